#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Plans: those that can never find a difference are refused with the arithmetic, a preview says what a spec would become
# and stores nothing, its time comes from past boots, and one wish makes an A/A experiment. The machine is played.
use strict;
use warnings;
use utf8;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Digest::SHA;
use File::Temp qw(tempdir);
use JSON::PP;
use Labd;
use Storable qw(dclone);
use Test::More;

my $dir       = tempdir(CLEANUP => 1);
my $kernel_id = "ab" x 20;
mkdir "$dir/$_" for qw(builds images);

sub put {
	my ($file, $bytes) = @_;
	open my $fh, ">:raw", "$dir/$file" or die "$dir/$file: $!";
	print $fh $bytes;
	close $fh or die "$dir/$file: $!";
	return "$dir/$file";
}

put("bzImage", "a kernel");
put("cpio",    "an image");
put("builds/kvm-$_.json", encode_json({ name => "kvm-$_", subject => "kvm", kernel => "$dir/bzImage",
	build_id => $kernel_id })) for qw(base hint);
put("images/kvm.json", encode_json({ name => "kvm", image => "$dir/cpio", sha256 => "ef" x 32,
	files => [ map { { path => "/bin/$_", sha256 => "ef" x 32 } } qw(kvm-churn other) ] }));

my %env = (LABD_QEMU => "$Labd::top/tests/lib/fake-qemu", FAKE_BUILD_ID => $kernel_id,
	FAKE_CAPTURE => "$Labd::top/tests/fuzz/seeds/fuzz_tracedat/sched.dat",
	FAKE_WORKLOAD => '{"madvise_total_ns": 12345}');
my $lab = Labd->new(args => [ "--builds", "$dir/builds", "--images", "$dir/images" ], env => \%env);

# Two arms, so many scenarios, and a metric that is primary.
sub spec {
	my ($scenarios, %more) = @_;
	return {
		name => "a plan", machine => "qemu", subject => "kvm", rounds => 5, seed => 3,
		arms => [ map { { name => $_, build => "kvm-$_" } } qw(base hint) ],
		scenarios => [ map { { name => "s$_", workload => "kvm-churn", args => { chunk_mib => $_ } } } 1 .. $scenarios ],
		trace   => { events => ["sched:sched_switch"] },
		metrics => [ { name => "total", workload_key => "madvise_total_ns", unit => "ns", better => "lower",
			primary => JSON::PP::true } ],
		%more,
	};
}

sub preview { return $lab->request("POST", "/api/v1/plans", @_) }

sub database {
	opendir my $d, $lab->{data} or die;
	my $rows = join "\n", map { join " ", @$_ } $lab->sql(".dump");
	return join " ", Digest::SHA::sha256_hex($rows), sort grep { !/-(?:shm|wal)$/ } readdir $d;
}

my @rank   = (test => "rank");
my @paired = (test => "paired");
my @two    = (metrics => [ map { { name => $_, workload_key => $_, unit => "ns", better => "lower",
	primary => JSON::PP::true } } qw(one two) ]);
for my $case (
	[ "6 scenarios at 5 rounds", spec(6), undef ],
	[ "7 scenarios at 5 rounds", spec(7),
		"7 comparisons (7 scenarios × 1 primary metric) at 5 rounds: the rank test's smallest p is 0.00794, "
		. "times 7 is 0.0556, above alpha 0.05; plan 6 rounds or name at most 6 in primary.scenarios." ],
	[ "7 scenarios at 6 rounds", spec(7, rounds => 6), undef ],
	[ "6 of 7 scenarios named", spec(7, primary => { scenarios => [ map { "s$_" } 1 .. 6 ] }), undef ],
	[ "7 scenarios and a larger alpha", spec(7, alpha => 0.1), undef ],
	[ "7 scenarios and nothing primary", Labd::descriptive(spec(7, rounds => 1)), undef ],
	[ "paired at 5 rounds", spec(1, @paired),
		"1 comparison (1 scenario × 1 primary metric) at 5 rounds: the paired test's smallest p is 0.0625, "
		. "above alpha 0.05; plan 6 rounds." ],
	[ "paired at 6 rounds", spec(1, rounds => 6, @paired), undef ],
	[ "3 rounds", spec(1, rounds => 3, @rank),
		"1 comparison (1 scenario × 1 primary metric) at 3 rounds: the rank test's smallest p is 0.1, "
		. "above alpha 0.05; plan 4 rounds." ],
	[ "2 scenarios and 2 metrics at 4 rounds", spec(2, rounds => 4, @two),
		"4 comparisons (2 scenarios × 2 primary metrics) at 4 rounds: the rank test's smallest p is 0.0286, "
		. "times 4 is 0.114, above alpha 0.05; plan 5 rounds." ],
	[ "4 scenarios and 2 metrics at 5 rounds", spec(4, @two),
		"8 comparisons (4 scenarios × 2 primary metrics) at 5 rounds: the rank test's smallest p is 0.00794, "
		. "times 8 is 0.0635, above alpha 0.05; plan 6 rounds or name at most 3 in primary.scenarios or make at most "
		. "1 metric primary." ],
	[ "an alpha out of reach", spec(1, alpha => 1e-70),
		"1 comparison (1 scenario × 1 primary metric) at 5 rounds: the rank test's smallest p is 0.00794, "
		. "above alpha 1e-70; no number of rounds that can be planned would do." ],
	) {
	my ($name, $spec, $sentence) = @$case;
	my $r = preview($spec);
	if (!defined $sentence) {
		is($r->{status}, 200, "$name: planned") or diag $r->{content};
		next;
	}
	for my $path ("/api/v1/plans", "/api/v1/experiments") {
		$r = $lab->request("POST", $path, $spec);
		is($r->{status}, 422, "$name: refused by $path");
		is($r->{json}{key}, "rounds", "$name: names the key");
		is($r->{json}{detail}, $sentence, "$name: with the arithmetic");
	}
}
is($lab->value("SELECT count(*) FROM experiment"), 0, "nothing was stored");

subtest "a preview" => sub {
	my $spec   = spec(3, rounds => 6, repeats => 2, primary => { arm => "hint", scenarios => [ "s3", "s1" ] });
	my $before = database();
	my $r      = preview($spec);
	is($r->{status}, 200, "planned") or diag $r->{content};
	my $plan = $r->{json};
	is($plan->{kind}, "ab", "kind");
	is("$plan->{boots_total} $plan->{runs_total}", "12 72", "boots and runs");
	cmp_ok(abs(delete($plan->{family}{p_floor}) - 2 / 924), "<", 1e-12, "the smallest p of 6 against 6");
	is_deeply($plan->{family}, { arm => "hint", scenarios => [ "s1", "s3" ], metrics => ["total"], size => 2,
		alpha => 0.05, test => "rank" }, "the family");
	is(scalar @{ $plan->{slots} }, 12, "a slot per boot");
	is_deeply([ map { $_->{position} } @{ $plan->{slots} } ], [ 1 .. 12 ], "in their order");
	is_deeply($plan->{slots}[1]{runs}, $plan->{slots}[0]{runs}, "the two boots of a round do the same");
	is(join(" ", sort @{ $plan->{slots}[0]{runs} }), "s1 s1 s2 s2 s3 s3", "each scenario twice");
	is_deeply($plan->{estimate}, { seconds => undef, parallel => 1, boots_seen => 0, runs_seen => 0,
		why => "Nothing of subject kvm has been booted on machine qemu yet." }, "no word on the time");
	is_deeply(preview($spec)->{json}{slots}, $plan->{slots}, "a second preview is the same");
	is(database(), $before, "and the database is as it was");

	my $id     = $lab->submit($spec);
	my ($row)  = $lab->sql("SELECT plan_sha256, kind FROM v_experiment WHERE experiment = :experiment", $id);
	is_deeply($row, [ $plan->{plan_sha256}, "ab" ], "the experiment's plan is that of the preview");
	my @slots = $lab->sql("SELECT position, round, arm, seed FROM slot WHERE experiment = :experiment ORDER BY 1", $id);
	is_deeply(\@slots, [ map { [ @$_{qw(position round arm seed)} ] } @{ $plan->{slots} } ], "boot by boot");
	is($lab->finish($id, 120), "done", "it completes") or diag $lab->log;
};

subtest "refused as a submission is" => sub {
	my $changed = spec(1);
	$changed->{arms}[1]{build} = "kvm-gone";
	my $r = preview($changed);
	is("$r->{status} $r->{json}{key}", "422 arms[1].build", "an unknown build: $r->{json}{detail}");
	$r = preview("{");
	is($r->{status}, 400, "no JSON: $r->{json}{detail}");
	$r = preview(spec(1), Authorization => "");
	is($r->{status}, 401, "without a token");
};

subtest "the time it takes" => sub {
	my $second = 1_000_000_000;
	# Boots that cost 10 s beside their runs; runs of s1 and s2 cost 1 and 2 s and half a second for storing.
	system("sqlite3", "-cmd", ".timeout 20000", "$lab->{data}/lab.db",
		"UPDATE run SET started = 0, ended = iif(scenario = 's1', 1, 2) * $second, ingest_ns = $second / 2;"
		. "UPDATE boot SET started = 0, ended = 10 * $second"
		. " + (SELECT sum(ended - started) FROM run WHERE run.boot = boot.id)") == 0 or die;
	my $spec = spec(2, rounds => 4, repeats => 3, primary => { scenarios => ["s1"] });
	my $plan = preview($spec)->{json};
	is_deeply($plan->{estimate}, { seconds => 8 * (10 + 3 * 1.5 + 3 * 2.5), parallel => 1, boots_seen => 12,
		runs_seen => 48, why => "Medians of 12 boots and 48 runs on machine qemu." }, "by past boots and runs");
	put("spec.json", encode_json($spec));
	my ($code, $out) = $lab->labctl("plan", "$dir/spec.json");
	is($code, 0, "labctl plan") or diag $out;
	like($out, qr/^    1  (?:base, hint|hint, base) +(?:s[12] ?){6}$/m, "a line per round");
	like($out, qr/^plan      8 boots, 48 runs, sha256 \Q@{[ substr $plan->{plan_sha256}, 0, 16 ]}\E$/m, "the plan");
	like($out, qr/^verdicts  on hint: total in s1\n +1 comparison at 4 rounds: the rank test's smallest p is 0\.0286; alpha is 0\.05$/m,
		"what it can say");
	like($out, qr/^time      3 min, 1 boot at a time$/m, "and the time") or diag $out;

	$spec->{scenarios}[1]{args}{chunk_mib} = 77;
	my $estimate = preview($spec)->{json}{estimate};
	is($estimate->{seconds}, 8 * (10 + 3 * 1.5 + 3 * 2.5), "with other args, runs of the workload stand in");
	like($estimate->{why}, qr/^The scenario s2 has never run with these args on machine qemu; other runs of kvm-churn/,
		"which is said");
	$spec->{scenarios}[1]{workload} = "other";
	$estimate = preview($spec)->{json}{estimate};
	is($estimate->{seconds}, undef, "another workload: nothing is known");
	is($estimate->{why}, "The workload other has never run on machine qemu.", "and why");
	system("sqlite3", "-cmd", ".timeout 20000", "$lab->{data}/lab.db", "UPDATE experiment SET origin_json = '{}'") == 0
		or die;
	is(preview(spec(1))->{json}{estimate}{seconds}, undef, "what ran on another host does not count");
	put("bad.json", encode_json({ %$spec, colour => "red" }));
	($code, $out) = $lab->labctl("plan", "$dir/bad.json");
	is($code, 1, "labctl plan of a mistake");
	like($out, qr/^labctl: colour: \S.*\n\z/, "in one sentence: $out");
};

subtest "A/A" => sub {
	my $base = spec(2, name => "ä" x 118, margin => 0.5, primary => { arm => "hint", scenarios => ["s2"] });
	my $id   = $lab->submit(dclone($base));
	my $r    = $lab->request("POST", "/api/v1/experiments/$id/aa", {});
	is($r->{status}, 201, "made") or diag $r->{content};
	is($r->{headers}{location}, "/api/v1/experiments/" . ($id + 1), "Location says where");
	my $aa   = $lab->get($r->{headers}{location})->{json};
	my $made = $aa->{spec};
	is($aa->{kind}, "aa", "its kind");
	is_deeply([ map { $_->{kind} } @{ $lab->get("/api/v1/experiments?limit=2")->{json}{experiments} } ], [qw(aa ab)],
		"in the list, too");
	like($made->{seed}, qr/^\d+$/, "a seed");
	cmp_ok($made->{seed}, "<", 2**53, "which JavaScript reads");
	isnt($made->{seed}, 3, "and is new");
	is_deeply($made, { %$base, seed => $made->{seed}, name => "A/A: " . "ä" x 115, kind => "aa",
		arms    => [ map { { name => $_, build => "kvm-base" } } qw(a b) ],
		primary => { arm => "b", scenarios => ["s2"] } }, "the base's build twice, and all else as it was");
	is($lab->value("SELECT kind FROM v_experiment WHERE experiment = :experiment", $id + 1), "aa", "stored as such");
	is($lab->finish($id + 1, 120), "done", "it completes");

	my ($code, $out) = $lab->labctl("aa", $id + 1, "--watch");
	is($code, 0, "labctl aa of an A/A") or diag $out;
	like($out, qr{^experiment @{[ $id + 2 ]}: \S+/experiments/@{[ $id + 2 ]}$}m, "says which");
	is($lab->get("/api/v1/experiments/" . ($id + 2))->{json}{name}, $made->{name}, "and has no second prefix");
	isnt($lab->get("/api/v1/experiments/" . ($id + 2))->{json}{spec}{seed}, $made->{seed}, "but a seed of its own");

	$r = $lab->request("POST", "/api/v1/experiments/999/aa", {});
	is("$r->{status} $r->{json}{detail}", "404 there is no experiment 999", "of nothing");
	is($lab->request("POST", "/api/v1/experiments/$id/aa", {}, Authorization => "")->{status}, 401, "nobody's wish");
	unlink "$dir/builds/kvm-base.json";
	$r = $lab->request("POST", "/api/v1/experiments/$id/aa", {});
	is("$r->{status} $r->{json}{key}", "422 arms[0].build", "of a build that is gone");
	like($r->{json}{detail}, qr/^no build "kvm-base"/, $r->{json}{detail});
	for my $words ([], ["x"], [ 1, 2 ], [ "--now", 1 ]) {
		($code, $out) = $lab->labctl("aa", @$words);
		is($code, 1, "labctl aa @$words: 1");
		like($out, qr/number of an experiment|unrecognized option/, "with a sentence");
	}
};
is($lab->stop, 0, "it ends well");
done_testing;
