#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# The report in its four formats, of experiments whose samples are written down here: what labd judges when it starts
# is found in the text, the CSV gives the stored values back, and the benchmark format keeps to its grammar.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Labd;
use Stored;
use Test::More;

my $lab = Labd->new;
$lab->stop;

my @scenarios = @Stored::scenarios;
my %values    = %Stored::values;

Stored::experiment($lab, 1, "ab", [qw(base hint)], \&Stored::value);
$lab->start;
ok($lab->until(20, sub { $lab->value("SELECT judged FROM experiment WHERE id = 1") }), "judged at the start");
my $before = $lab->get("/api/v1/experiments/1/report")->{content};

# Five A/A pairs that differ by up to 10 %, in quiet and lossy; in clear by up to ninefold.
$lab->stop;
Stored::experiment($lab, 2, "aa", [qw(a b)], sub { $_[1] ? ($_[0] eq "clear" ? 9e6 : 1.1e6) : 1e6 });
system "sqlite3", "$lab->{data}/lab.db", "UPDATE experiment SET judged = 0";
$lab->start;
ok($lab->until(20, sub { $lab->value("SELECT min(judged) FROM experiment") }), "judged anew");
my $after = $lab->get("/api/v1/experiments/1/report")->{content};

subtest "text" => sub {
	# Line ends and indents are the layout's.
	my ($flat, $flat_after) = map { s/\s+/ /gr } $before, $after;
	like($flat, qr/compared hint against base/, "which comparison the plan calls primary");
	like($flat, qr/smallest p of 5 rounds: \.0079/, "the smallest p of the design");
	like($before, qr/^clear .* \.0079 +\.0238$/m, "a raw p and Holm's beside it");
	like($flat, qr/improved: Holm's p 0\.0238/, "a verdict with its reason");
	like($flat, qr/noise floor unknown/, "no floor is said");
	like($flat, qr/inconclusive: .*smallest detectable change/, "an inconclusive one says what could have been found");
	unlike($flat, qr/no regression/i, "and is no proof of anything");
	like($flat, qr/round 3, lossy, hint: hint lost 4 events/, "the void pair and why");
	like($flat, qr/CPU 1: 4 events \(ring overrun\)/, "the loss");
	like($flat, qr/Void pairs|4 pairs/, "fewer pairs there");
	like($flat_after, qr/clear .*inconclusive: .* within the A\/A floor of 800 %/, "a floor takes a verdict");
	unlike($flat_after, qr/noise floor unknown/, "and is known then");
	like($flat_after, qr/5 pairs/, "with its pairs");
	is((grep { length > 75 } split /\n/, $before =~ s/^  sqlite3.*//msr) + 0, 0, "at most 75 columns");
	my $aa = $lab->get("/api/v1/experiments/2/report")->{content};
	like($aa, qr/A\/A/, "an A/A experiment says what it is");
};

subtest "p99.9" => sub {
	like($before, qr/850/, "the lower end of an interval");
	like($before =~ s/\s+/ /gr, qr/3688/, "no upper bound below 3688 values, and it says so");
	my ($row) = grep { $_->{metric} eq "tail" && $_->{arm} eq "hint" } @{ $lab->get("/api/v1/experiments/1/results")->{json}{results} };
	is($row->{low}, 850, "an arm's interval is the median of its boots'");
	is($row->{high}, undef, "without an upper end");
};

# RFC 4180, as far as it is needed here.
sub csv {
	my ($text) = @_;
	my @rows;
	for my $line (split /\r\n/, $text) {
		my @cells;
		while ($line =~ /\G(?:^|,)(?:"((?:[^"]|"")*)"|([^,"]*))/g) {
			push @cells, defined $1 ? $1 =~ s/""/"/gr : $2;
			last if pos($line) == length $line;
		}
		push @rows, \@cells;
	}
	my $head = shift @rows;
	return map { my $row = $_; my %h; @h{@$head} = @$row; \%h } @rows;
}

subtest "csv" => sub {
	my $r = $lab->get("/api/v1/experiments/1/report?format=csv");
	like($r->{headers}{"content-type"}, qr{^text/csv}, "its type");
	my @rows = csv($r->{content});
	is(@rows + 0, 60, "a row for each boot, scenario and metric");
	my %got = map { ("$_->{scenario} $_->{arm} $_->{round}" => $_) } grep { $_->{metric} eq "total" } @rows;
	my $wrong = 0;
	for my $scenario (@scenarios) {
		for my $arm (qw(base hint)) {
			$wrong += $got{"$scenario $arm $_"}{value} != $values{$scenario}{$arm}[ $_ - 1 ] for 1 .. 5;
		}
	}
	is($wrong, 0, "the values are the stored ones");
	is($got{"lossy hint 3"}{used}, 0, "a void one is there and marked");
	is($got{"lossy hint 2"}{used}, 1, "the next is used");
};

subtest "benchstat" => sub {
	my $r = $lab->get("/api/v1/experiments/1/report?format=benchstat");
	my (%config, %seen, %units);
	my $bad = 0;
	for my $line (split /\n/, $r->{content}) {
		# What is none of the three kinds of lines is ignored by who reads the format.
		next if $line eq "" || $line =~ /^# /;
		if ($line =~ /^([a-z][^\s:A-Z]*):[ \t]+(\S.*)$/) {
			$config{$1} = $2;
		} elsif ($line =~ /^Unit (\S+) ((?:\S+=\S+ ?)+)$/) {
			$units{$1} = $2;
		} elsif ($line =~ /^Benchmark([A-Z0-9_]\S*)[ \t]+(\d+)((?:[ \t]+[-+.e\d]+[ \t]+\S+)+)$/) {
			my ($name, $rest) = ($1, $3);
			while ($rest =~ /([-+.e\d]+)[ \t]+(\S+)/g) {
				push @{ $seen{"$name $config{arm}"}{$2} }, $1;
			}
		} else {
			$bad++;
			diag "not of the format: $line";
		}
	}
	is($bad, 0, "each line is of the format");
	my ($clear) = grep { /clear/i && / base$/ } keys %seen;
	ok($clear, "a benchmark for each scenario") or return;
	my ($unit) = grep { /total/ } keys %{ $seen{$clear} };
	is_deeply([ map { $_ + 0 } @{ $seen{$clear}{$unit} } ], $values{clear}{base}, "with a line for each boot");
	like($units{$unit}, qr/better=lower/, "the unit says which way is better");
	my ($lossy) = grep { /lossy/i && / hint$/ } keys %seen;
	is(@{ $seen{$lossy}{$unit} } + 0, 4, "values of void pairs stay out");
};

is_deeply($lab->get("/api/v1/experiments/1/report?format=json")->{json}, $lab->get("/api/v1/experiments/1/results")->{json},
	"JSON is that of results");
my $r = $lab->get("/api/v1/experiments/1/report?format=pdf");
is($r->{status}, 422, "no other format");
like($r->{json}{detail}, qr/format/, "and says so");
my ($code, $out) = $lab->labctl("report", "1", "--format", "csv");
is($code, 0, "labctl report --format");
like($out, qr/^experiment,/, "prints it");
$lab->stop;
done_testing;
