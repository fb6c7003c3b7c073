#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# An experiment followed over HTTP: submit, idempotency, events, report, results. Its machine cannot start,
# so that it ends soon and tells why.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use JSON::PP;
use Labd;
use Test::More;

my $dir  = tempdir(CLEANUP => 1);
my $json = JSON::PP->new->utf8->canonical;
mkdir "$dir/$_" for qw(builds images);
sub put {
	my ($file, $data) = @_;
	open my $fh, ">", "$dir/$file" or die;
	print $fh $json->encode($data);
	close $fh or die;
	return "$dir/$file";
}
put("builds/kvm-$_.json", { name => "kvm-$_", subject => "kvm", kernel => "/nowhere/$_", build_id => "ab" x 20 })
	for qw(base hint);
put("images/kvm.json", { name => "kvm", image => "/nowhere/image", sha256 => "cd" x 32,
	files => [ { path => "/bin/kvm-churn", sha256 => "ef" x 32 } ] });
my $lab = Labd->new(args => [ "--builds", "$dir/builds", "--images", "$dir/images" ], env => { LABD_QEMU => "/bin/false" });

my $spec = Labd::descriptive(Labd::spec("experiments/kvm-first.json"));
$spec->{rounds} = 2;
my $list = "/api/v1/experiments";
my $r = $lab->request("POST", $list, $spec, "Idempotency-Key" => "once");
is($r->{status}, 201, "submitted") or diag $r->{content};
is($r->{headers}{location}, "$list/1", "Location says where");
$r = $lab->request("POST", $list, $spec, "Idempotency-Key" => "once");
is($r->{status}, 200, "the same key again makes no second one");
is($r->{json}{id}, 1, "and names the first");
is($lab->value("SELECT count(*) FROM experiment"), 1, "there is one");

# Events, read to the end that the server makes.
my $events = "";
$r = HTTP::Tiny->new(timeout => 120)->get($lab->url . "$list/1/stream", { data_callback => sub { $events .= shift } });
is($r->{headers}{"content-type"}, "text/event-stream", "a stream of events");
my @events = map { [ /^event: (\w+)\ndata: (.*)$/ ] } grep { /^event/ } split /\n\n/, $events;
ok(@events >= 2, scalar(@events) . " events");
is($events[0][0], "progress", "the first is the state as it is");
is($events[-1][0], "end", "the last says that it is over");
my $last = $json->decode($events[-2][1]);
is($last->{state}, "failed", "an experiment without a run has failed");
like($last->{reason}, qr/no run finished/, "and says why: $last->{reason}");
is($last->{boots_total}, 4, "two rounds of two arms");
is($last->{current}, undef, "nothing runs any more");

my ($code, $out) = $lab->labctl("watch", 1);
is($code, 2, "labctl watch: 2, it did not complete");
like($out, qr/^experiment 1: failed: no run finished/m, "and why");
($code, $out) = $lab->labctl("submit", put("spec.json", { %$spec, colour => "red" }));
is($code, 1, "labctl submit of a mistake: 1");
like($out, qr/^labctl: colour: \S.*\n\z/, "in one sentence with the key: $out");
($code, $out) = $lab->labctl("cancel", 1);
is($code, 1, "labctl cancel of what has ended: 1");
like($out, qr/has ended already/, $out);

my $results = $lab->get("$list/1/results");
is($results->{status}, 200, "results");
is(scalar @{ $results->{json}{results} }, 2 * @{ $spec->{scenarios} } * @{ $spec->{metrics} }, "a row for each arm, scenario and metric");
is_deeply([ grep { $_->{n} } @{ $results->{json}{results} } ], [], "none with a value");
ok(@{ $results->{json}{boots_bad} } >= 4, "every boot ended badly");
is($lab->get("$list/1/results", "If-None-Match" => $results->{headers}{etag})->{status}, 304, "304 for the ETag");
my $report = $lab->get("$list/1/report")->{content};
like($report, qr/^labd report, experiment 1: /, "the report");
like($report, qr/^  boot \d+, round \d, \w+, try \d: infra-failed$/m, "lists the boots");
like($report, qr/^Void pairs\n-+\n(?:  round .*\n)+/m, "and the void pairs");
is_deeply([ grep { length > 75 && !m{^sqlite3 |^\s*\S+$} } split /\n/, $report ], [], "in at most 75 columns");
($code, $out) = $lab->labctl("report", 1);
is($out, $report, "labctl prints the same");

# Pages of a list.
my @seen;
my $after = "";
do {
	my $page = $lab->get("$list/1/boots?limit=3$after")->{json};
	push @seen, map { $_->{position} } @{ $page->{boots} };
	$after = $page->{next} ? "&after=$page->{next}" : "";
} while $after;
is_deeply(\@seen, [ 1 .. 4 ], "each boot once over two pages");

($code, $out) = $lab->labctl("sql", 1, "SELECT :experiment, count(*) FROM v_boot WHERE experiment = :experiment");
like($out, qr/^1\|\d+$/, "labctl sql: $out");
($code, $out) = $lab->labctl("sql", 1, "DELETE FROM experiment");
isnt($code, 0, "labctl sql cannot change anything");
my $archive = "$dir/one.tar.gz";
($code, $out) = $lab->labctl("export", 1, "-o", $archive);
is($code, 0, "labctl export") or diag $out;
mkdir "$dir/x";
is(system("tar", "-xzf", $archive, "-C", "$dir/x"), 0, "tar reads it");
is(system("cd '$dir/x/labd-experiment-1' && sha256sum --check --quiet SHA256SUMS"), 0, "and its hashes fit");
ok(-s "$dir/x/labd-experiment-1/$_", "$_ is in it") for qw(lab.db report.txt results.json spec.json);
is($lab->stop, 0, "it ends well");

# The console of a machine that boots and never gets further; a client that comes back has it again.
put("builds/kvm-$_.json", { name => "kvm-$_", subject => "kvm", kernel => "$dir/spec.json", build_id => "ab" x 20 }) for qw(base hint);
put("images/kvm.json", { name => "kvm", image => "$dir/spec.json", sha256 => "cd" x 32,
	files => [ { path => "/bin/kvm-churn", sha256 => "ef" x 32 } ] });
$lab = Labd->new(args => [ "--builds", "$dir/builds", "--images", "$dir/images" ],
	env => { LABD_QEMU => "$Labd::top/tests/lib/fake-qemu", FAKE_MODE => "chatty" });
my $id = $lab->submit($spec);

# Follows until the code likes what came; answers the console events.
sub consoles {
	my ($enough) = @_;
	my $got = "";
	my @consoles;
	HTTP::Tiny->new(timeout => 60)->get($lab->url . "$list/$id/stream", { data_callback => sub {
		$got .= shift;
		@consoles = map { $json->decode($_) } $got =~ /^event: console\ndata: (.*)\n\n/mg;
		die "enough\n" if $enough->(@consoles);
	} });
	return @consoles;
}
my @consoles = consoles(sub { @_ >= 2 && $_[-1]{lines}[-1] =~ /still booting/ });
cmp_ok(scalar @consoles, ">=", 2, "the console is told when it has grown, without a change of the state");
ok($_->{boot} > 0, "of a boot") for $consoles[-1];
is(scalar @{ $consoles[-1]{lines} }, 12, "in its last twelve lines");
is_deeply([ grep { !/^\[ *\d+\.\d{3}\] \S/ } map { @{ $_->{lines} } } @consoles ], [], "each of them whole");
isnt($consoles[0]{lines}[-1], $consoles[-1]{lines}[-1], "and newer ones each time");
@consoles = consoles(sub { @_ >= 1 });
is(scalar @consoles, 1, "who comes back is told again");
$lab->request("POST", "$list/$id/cancel", {});
is($lab->stop, 0, "it ends well");
done_testing;
