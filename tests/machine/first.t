#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# The first experiment on real machines: base, iterator and hint; the figures must have the shape that the
# patches promise, and every one of them must hold against its sources.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Digest::SHA;
use File::Temp qw(tempdir);
use JSON::PP;
use Labd;
use Test::More;

my $lab  = Labd->new;
my $spec = Labd::spec("experiments/kvm-first.json");
splice @{ $spec->{arms} }, 1, 0, { name => "iterator", build => "kvm-iterator" };
my $id = $lab->submit($spec);
is($lab->finish($id, 1500), "done", "the experiment completes") or BAIL_OUT($lab->log);

# Values of a metric by round.
sub values_of {
	my ($metric, $scenario, $arm) = @_;
	return map { $_->[0] } $lab->sql("SELECT value FROM v_sample WHERE experiment = :experiment AND "
		. "metric = '$metric' AND scenario = '$scenario' AND arm = '$arm' ORDER BY round", $id);
}

sub median {
	my @v = sort { $a <=> $b } values_of(@_);
	return $v[ $#v / 2 ];
}

subtest "shape" => sub {
	for my $scenario (qw(same16 same4)) {
		my @base = values_of("zap_total", $scenario, "base");
		my @hint = values_of("zap_total", $scenario, "hint");
		is(scalar @base, 5, "$scenario: five values of base");
		# One slice of a busy host's scheduler inside a zap can spoil a sum, but not the median zap.
		cmp_ok(scalar(grep { $hint[$_] < $base[$_] } 0 .. 4), ">=", 4,
			"$scenario: hint's zap_total is lower in the pairs (@base, @hint)");
		my @median_base = values_of("zap_median", $scenario, "base");
		my @median_hint = values_of("zap_median", $scenario, "hint");
		is(scalar(grep { $median_hint[$_] < $median_base[$_] } 0 .. 4), 5,
			"$scenario: hint's median zap is shorter in every pair");
		my ($b, $h) = map { median("zap_total", $scenario, $_) } qw(base hint);
		cmp_ok($h, "<=", $b / 2, "$scenario: zap_total of hint at most half of base's ($h, $b)");
		cmp_ok(median("tables_skipped", $scenario, "hint"), ">", 0, "$scenario: hint skips tables");
		my @v = values_of("sptes_visited", $scenario, "base");
		my @w = values_of("sptes_visited", $scenario, "hint");
		my @s = values_of("tables_skipped", $scenario, "hint");
		for my $i (0 .. 4) {
			my $ratio = ($w[$i] + 512 * $s[$i]) / $v[$i];
			cmp_ok(abs($ratio - 1), "<=", 0.05,
				"$scenario, round $i: visited + 512 skipped is what base visits ($ratio)");
		}
	}
	is(join(" ", values_of("tables_skipped", "sweep1", "hint")), "0.0 0.0 0.0 0.0 0.0", "sweep1: hint skips nothing");
	for my $scenario (qw(same16 same4 sweep1)) {
		is(join(" ", values_of("tables_skipped", $scenario, $_)), "0.0 0.0 0.0 0.0 0.0",
			"$scenario: $_ skips nothing") for qw(base iterator);
	}
	cmp_ok(median("sptes_visited", "same16", "iterator"), "<", median("sptes_visited", "same16", "base") / 2,
		"same16: iterator stands on less than half of base's SPTEs");
	cmp_ok(median("zap_total", "same16", "iterator"), "<", median("zap_total", "same16", "base"),
		"same16: iterator's zap_total is below base's");
};

# Which verdict the boots give is theirs; that they and the verdict fit is labd's.
subtest "verdicts" => sub {
	for my $scenario (qw(same16 same4)) {
		my @base = sort { $a <=> $b } values_of("zap_total", $scenario, "base");
		my @hint = sort { $a <=> $b } values_of("zap_total", $scenario, "hint");
		my $row  = ($lab->sql("SELECT verdict, printf('%.4f', p), printf('%.4f', p_floor), in_family, floor IS NULL FROM v_compare "
			. "WHERE experiment = :experiment AND metric = 'zap_total' AND arm = 'hint' AND scenario = '$scenario'", $id))[0];
		my $apart = $hint[-1] < $base[0];
		is($row->[2], "0.0079", "$scenario: the smallest p of 5 v 5");
		is($row->[1] eq "0.0079" ? 1 : 0, $apart ? 1 : 0, "$scenario: p $row->[1] is that where the arms do not overlap, and only there");
		like($row->[0], $apart ? qr/^improved$/ : qr/^(?:improved|inconclusive)$/, "$scenario: $row->[0]");
		is("$row->[3] $row->[4]", "1 1", "$scenario: in the family; no A/A experiment, no floor");
	}
	is($lab->value("SELECT count(*) FROM v_compare WHERE experiment = :experiment AND verdict = 'regressed'", $id), 0,
		"nothing has regressed, sweep1 neither");
	is($lab->value("SELECT count(*) FROM v_compare WHERE experiment = :experiment AND scenario = 'sweep1' AND verdict IS NOT NULL", $id), 0,
		"sweep1 is descriptive");
};

subtest "nothing is lost" => sub {
	is($lab->value("SELECT count(*) FROM v_run WHERE experiment = :experiment AND state = 'ok'", $id), 45,
		"45 finished runs");
	is($lab->value("SELECT total(lost) FROM v_run WHERE experiment = :experiment", $id), "0.0", "loss 0");
	is($lab->value("SELECT count(*) FROM ring WHERE read + lost <> written", $id), 0,
		"read + lost = written on each CPU of each run");
	is($lab->value("SELECT count(DISTINCT run) FROM ring", $id), 45, "and there are books of each run");
	is($lab->value("SELECT sum(events) = (SELECT sum(read) FROM ring) FROM v_run WHERE "
			. "experiment = :experiment", $id), 1, "the rings' books and the decoder agree");
	is($lab->value("SELECT count(*) FROM void_pair"), 0, "no pair is void");
};

subtest "provenance" => sub {
	my %build = map { @$_ } $lab->sql("SELECT name, json_extract(build_json, '\$.build_id') FROM arm "
		. "WHERE experiment = :experiment", $id);
	my @boots = $lab->sql("SELECT v.arm, v.console, v.build_id, b.token, v.boot_id FROM v_boot v "
		. "JOIN boot b ON b.id = v.boot WHERE v.experiment = :experiment", $id);
	is(scalar @boots, 15, "15 boots");
	my %boot_ids = map { $_->[4] => 1 } @boots;
	is(scalar(keys %boot_ids), 15, "each with a boot_id of its own");
	for my $boot (@boots) {
		my ($arm, $console, $build_id, $token) = @$boot;
		open my $fh, "<", "$lab->{data}/$console" or die "$console: $!";
		my $text = do { local $/; <$fh> };
		ok($build_id eq $build{$arm} && $text =~ /\Q$build_id\E/, "$arm: build-id on its console");
		like($text, qr/Command line:.*labd\.token=$token/, "$arm: token on its console");
	}
	my $order = join " ", map { "$_->[0]" } $lab->sql(
		"SELECT arm FROM v_boot WHERE experiment = :experiment ORDER BY position", $id);
	isnt($order, join(" ", ("base") x 5, ("iterator") x 5, ("hint") x 5), "arms are interleaved");
};

# One capture per arm, recounted by trace-cmd, whose field values are compared too.
subtest "the captures say the same" => sub {
	my @runs = $lab->sql("SELECT run, arm, capture, sha256 FROM v_run WHERE experiment = :experiment AND "
		. "scenario = 'same16' AND round = 2 ORDER BY arm", $id);
	is(scalar @runs, 3, "a capture of each arm");
	for my $run (@runs) {
		my ($number, $arm, $capture, $sha) = @$run;
		my $path = "$lab->{data}/$capture";
		is(Digest::SHA->new(256)->addfile($path)->hexdigest, $sha, "$arm: sha256 of the capture");
		my (%count, $total, $visited);
		open my $fh, "-|", "trace-cmd", "report", "-R", "-i", $path or die "trace-cmd: $!";
		while (<$fh>) {
			next if !/\d+\.\d+:\s+(\w+):/;
			$count{$1}++;
			$total   += $1 if /\bduration_ns=(\d+)/;
			$visited += $1 if /\bvisited=(\d+)/;
		}
		close $fh;
		my %stored = map { $_->[0] =~ /:(.*)/ ? ($1 => $_->[1]) : () }
			$lab->sql("SELECT event, count FROM run_event WHERE run = $number AND count > 0", $id);
		is_deeply(\%count, \%stored, "$arm: trace-cmd report counts the same events")
			or diag explain [ \%count, \%stored ];
		is($lab->value("SELECT sum(duration_ns) FROM events.ev_kvmmmu_kvm_tdp_mmu_zap_leafs WHERE "
				. "run = $number", $id), $total, "$arm: durations as trace-cmd prints them");
		is($lab->value("SELECT sum(visited) FROM events.ev_kvmmmu_kvm_tdp_mmu_zap_leafs WHERE "
				. "run = $number", $id), $visited, "$arm: visited as trace-cmd prints it");
		is($lab->value("SELECT CAST(value AS INTEGER) FROM v_sample WHERE run = $number AND metric = 'zap_total'", $id),
			$total, "$arm: zap_total is their sum");
	}
};

subtest "docs/sql.md" => sub {
	my @queries = Labd::doc_queries();
	cmp_ok(scalar @queries, ">=", 8, "at least eight queries");
	for my $query (@queries) {
		my @rows = eval { $lab->sql($query->{sql}, $id) };
		is($@, "", "$query->{title}: runs");
		ok($query->{may_be_empty} ? !@rows : @rows > 0, "$query->{title}: " . @rows . " rows");
	}
	my ($recomputed) = grep { /from_events/ } map { $_->{sql} } @queries;
	is(scalar(grep { $_->[3] != $_->[4] } $lab->sql($recomputed, $id)), 0, "recomputed sums equal the stored");
};

subtest "what people see" => sub {
	my $r = $lab->get("/api/v1/experiments/$id/report");
	like($r->{content}, qr/emulated/i, "the report says that the machine was emulated");
	like($r->{content}, qr/same16.*same4/s, "and has the scenarios");
	like($r->{content}, qr/measuring/i, "and how much of the time was measuring");
	my ($code, $out) = $lab->labctl("report", $id);
	is($out, $r->{content}, "labctl prints the same report");
	my $results = $lab->get("/api/v1/experiments/$id/results")->{json};
	my ($delta) = map { $_->{delta} } grep {
		$_->{scenario} eq "same16" && $_->{metric} eq "zap_total" && $_->{arm} eq "hint"
	} @{ $results->{compare} };
	cmp_ok($delta, "<=", -0.5, "the API's delta of same16: $delta");
};

subtest "a capture is imported again" => sub {
	my $capture = $lab->value("SELECT capture FROM v_run WHERE experiment = :experiment AND state = 'ok' "
		. "ORDER BY run LIMIT 1", $id);
	my ($code, $out) = $lab->labctl("import", "$lab->{data}/$capture");
	is($code, 0, "labctl import") or diag $out;
	is($lab->value("SELECT i.events = r.events FROM import i JOIN v_run r ON r.sha256 = i.sha256 "
			. "WHERE i.state = 'done'"), 1, "as many events as the run has");
};

done_testing;
