#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# The report in its four formats, of experiments whose samples are written down here: what labd judges when it starts
# is found in the text, the CSV gives the stored values back, and the benchmark format keeps to its grammar.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Labd;
use Test::More;

my $lab = Labd->new;
$lab->stop;

my @scenarios = qw(clear quiet lossy);
# In quiet nothing differs; in lossy round 3 of hint lost events.
my %values = (
	clear => { base => [ 100.5e6, 101e6, 99e6, 102e6, 98e6 ], hint => [ 20e6, 21e6, 19e6, 22e6, 18e6 ] },
	quiet => { base => [ 50e6, 52e6, 51e6, 49e6, 48e6 ], hint => [ 51e6, 49e6, 50e6, 52e6, 47e6 ] },
	lossy => { base => [ 7e6, 8e6, 9e6, 10e6, 11e6 ], hint => [ 7.5e6, 8.5e6, 1e6, 10.5e6, 11.5e6 ] },
);

sub spec {
	my ($kind, $arms) = @_;
	return JSON::PP->new->canonical->encode({
		name => "t", machine => "qemu", subject => "kvm", kind => $kind, rounds => 5, seed => 3,
		arms => [ map { { name => $_, build => "kvm-base" } } @$arms ],
		scenarios => [ map { { name => $_, workload => "w" } } @scenarios ],
		trace => { events => ["a:b"] },
		metrics => [
			{ name => "total", event => "a:b", field => "ns", agg => "sum", unit => "ns", better => "lower", primary => JSON::PP::true },
			{ name => "tail", event => "a:b", field => "ns", agg => "p99.9", unit => "ns", better => "lower" },
		] });
}

sub median {
	my @v = sort { $a <=> $b } @_;
	return ($v[ @v / 2 ] + $v[ (@v - 1) / 2 ]) / 2;
}

# One experiment that is done and not judged yet; $of says a value of a scenario, an arm (0, 1) and a round.
sub experiment {
	my ($id, $kind, $arms, $of) = @_;
	my $json = spec($kind, $arms);
	my @sql  = ("INSERT INTO experiment (id, name, machine, subject, state, spec, plan, plan_sha256, emulated, created, started, "
		. "ended, kind) VALUES ($id, 't', 'qemu', 'kvm', 'done', '$json', '{}', 'ab', 1, 0, 0, 60000000000, '$kind')");
	my $n = $id * 1000;

	push @sql, map { "INSERT INTO arm VALUES ($id, $_, '$arms->[$_]', 'kvm-base', '{}')" } 0, 1;
	push @sql, map { "INSERT INTO scenario VALUES ($id, $_, '$scenarios[$_]', 'w', '{}')" } 0 .. $#scenarios;
	push @sql, "INSERT INTO metric VALUES ($id, 0, 'total', 'ns', 'sum', -1, 1, NULL), ($id, 1, 'tail', 'ns', 'p99.9', -1, 0, NULL)";
	for my $round (1 .. 5) {
		for my $arm (0, 1) {
			my $slot = $n++;
			push @sql, "INSERT INTO slot (id, experiment, round, position, arm, seed, state) "
				. "VALUES ($slot, $id, $round, $slot, '$arms->[$arm]', '1', 'done')",
				"INSERT INTO boot (id, slot, attempt, state, token, console, env_json, env_key, started, ended) "
				. "VALUES ($slot, $slot, 1, 'ok', '', '', '{}', 'key', 0, 1)";
			for my $s (0 .. $#scenarios) {
				my $run  = $slot * 10 + $s;
				my $lost = $id == 1 && $scenarios[$s] eq "lossy" && $arm && $round == 3 ? 4 : 0;
				my $value = $of->($scenarios[$s], $arm, $round);
				# Only base has enough values for an upper bound.
				my ($count, $high) = $arm ? (2000, "NULL") : (5000, 950);
				push @sql, "INSERT INTO run (id, boot, slot, place, scenario, state, events, lost, complete, done_json, started, capture) "
					. "VALUES ($run, $slot, $slot, $s, '$scenarios[$s]', 'ok', 9, $lost, 1, '{}', 0, 'c')",
					"INSERT INTO sample (run, metric, value, n_events, low, high) VALUES ($run, 'total', $value, 9, NULL, NULL), "
					. "($run, 'tail', 900 + $round, $count, 850, $high)";
				push @sql, "INSERT INTO loss (run, cpu, count, cause) VALUES ($run, 1, $lost, 'ring overrun')" if $lost;
			}
		}
	}
	for my $scenario (@scenarios) {
		my @rounds = $id == 1 && $scenario eq "lossy" ? (1, 2, 4, 5) : 1 .. 5;
		push @sql, "INSERT INTO void_pair VALUES (1, 3, 'lossy', '$_', 'hint lost 4 events')" for @rounds == 4 ? @$arms : ();
		for my $metric (qw(total tail)) {
			my @v = map { my $arm = $_; [ map { $metric eq "tail" ? 900 + $_ : $of->($scenario, $arm, $_) } @rounds ] } 0, 1;
			push @sql, map { my @of = sort { $a <=> $b } @{ $v[$_] };
				"INSERT INTO result (experiment, scenario, metric, arm, n, median, min, max, n_events, values_json, low, high) "
				. "VALUES ($id, '$scenario', '$metric', '$arms->[$_]', " . @rounds . ", " . median(@of) . ", $of[0], $of[-1], "
				. ($metric eq "total" ? "9, '[]', NULL, NULL)" : $_ ? "2000, '[]', 850, NULL)" : "5000, '[]', 850, 950)") } 0, 1;
			my %ratio = map { ($rounds[$_] => $v[1][$_] / $v[0][$_]) } 0 .. $#rounds;
			push @sql, "INSERT INTO compare (experiment, scenario, metric, base, arm, delta, n_pairs, n_lower, n_equal, n_higher, "
				. "paired_delta, ratios_json) VALUES ($id, '$scenario', '$metric', '$arms->[0]', '$arms->[1]', "
				. (median(@{ $v[1] }) / median(@{ $v[0] }) - 1) . ", " . @rounds . ", 0, 0, 0, 0, '["
				. join(",", map { $ratio{$_} // "null" } 1 .. 5) . "]')";
		}
	}
	open my $fh, "|-", "sqlite3", "-bail", "$lab->{data}/lab.db" or die "sqlite3: $!";
	print $fh "BEGIN;\n", join(";\n", @sql), ";\nCOMMIT;\n";
	close $fh or die "sqlite3 failed";
}

experiment(1, "ab", [qw(base hint)], sub { $values{ $_[0] }{ (qw(base hint))[ $_[1] ] }[ $_[2] - 1 ] });
$lab->start;
ok($lab->until(20, sub { $lab->value("SELECT judged FROM experiment WHERE id = 1") }), "judged at the start");
my $before = $lab->get("/api/v1/experiments/1/report")->{content};

# Five A/A pairs that differ by up to 10 %, in quiet and lossy; in clear by up to ninefold.
$lab->stop;
experiment(2, "aa", [qw(a b)], sub { $_[1] ? ($_[0] eq "clear" ? 9e6 : 1.1e6) : 1e6 });
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
