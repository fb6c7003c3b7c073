#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# How long pages wait for their data in a full lab: 200 experiments, 20 000 runs, 50 M raw events. make bench runs it.
# One experiment is made by labd from a capture that was recorded here; the others are its copies, with numbers of their
# own, so that each has its runs, samples, results and its file of events. The lab is kept in $LABD_CACHE/bench.
#   lab.pl CAPTURE   the capture that each run ships, of about 2500 events
#   O=dir            where the programs are (default build)
#   EXPERIMENTS=n    how many (default 200)
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Digest::SHA;
use File::Path qw(make_path remove_tree);
use HTTP::Tiny;
use JSON::PP;
use Labd;
use List::Util qw(max);
use Time::HiRes qw(time);

my $capture     = shift // die "usage: lab.pl CAPTURE\n";
my $experiments = $ENV{EXPERIMENTS} // 200;
my $cache       = ($ENV{LABD_CACHE} // ($ENV{XDG_CACHE_HOME} // "$ENV{HOME}/.cache") . "/labd") . "/bench";
my $data        = "$cache/data";
my $json        = JSON::PP->new->utf8->canonical;
my @metrics     = (
	{ name => "call_p999",   begin => "raw_syscalls:sys_enter", end => "raw_syscalls:sys_exit", keys => ["pid"], agg => "p99.9" },
	{ name => "call_p99",    begin => "raw_syscalls:sys_enter", end => "raw_syscalls:sys_exit", keys => ["pid"], agg => "p99" },
	{ name => "call_median", begin => "raw_syscalls:sys_enter", end => "raw_syscalls:sys_exit", keys => ["pid"], agg => "median" },
	{ name => "call_total",  begin => "raw_syscalls:sys_enter", end => "raw_syscalls:sys_exit", keys => ["pid"], agg => "sum" },
	{ name => "call_max",    begin => "raw_syscalls:sys_enter", end => "raw_syscalls:sys_exit", keys => ["pid"], agg => "max" },
	{ name => "bytes",       event => "raw_syscalls:sys_exit", field => "ret", agg => "sum" },
	{ name => "bytes_p99",   event => "raw_syscalls:sys_exit", field => "ret", agg => "p99" },
	{ name => "calls",       event => "raw_syscalls:sys_enter", agg => "count" });

sub put {
	my ($file, $content) = @_;
	open my $fh, ">", $file or die "$file: $!\n";
	print $fh ref $content ? $json->encode($content) : $content;
	close $fh or die "$file: $!\n";
	return $file;
}

sub sqlite {
	my ($file, $sql) = @_;
	open my $fh, "|-", "sqlite3 -bail '$file' >/dev/null" or die "sqlite3: $!\n";
	print $fh "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;\n$sql" or die;
	close $fh or die "sqlite3 failed on $file\n";
}

sub rows {
	my ($file, $sql) = @_;
	return map { chomp; $_ } qx(sqlite3 -readonly '$file' "$sql");
}

# The experiment that the others are copies of: ten rounds of two arms and five scenarios, a hundred runs.
sub first_experiment {
	my $dir = "$cache/subject";
	make_path(map { "$dir/$_" } qw(builds images));
	put("$dir/builds/kvm-$_.json", { name => "kvm-$_", subject => "kvm", kernel => put("$dir/$_", "a kernel"),
		build_id => "ab" x 20 }) for qw(base hint);
	put("$dir/images/kvm.json", { name => "kvm", image => put("$dir/cpio", "an image"), sha256 => "cd" x 32,
		files => [ { path => "/bin/kvm-churn", sha256 => "ef" x 32 } ] });
	my $lab = Labd->new(data => $data, args => [ "--builds", "$dir/builds", "--images", "$dir/images" ], env => {
		LABD_QEMU => "$Labd::top/tests/lib/fake-qemu", FAKE_BUILD_ID => "ab" x 20, FAKE_CAPTURE => $capture });
	my $id = $lab->submit({ name => "bench", machine => "qemu", subject => "kvm", rounds => 10,
		arms => [ map { { name => $_, build => "kvm-$_" } } qw(base hint) ],
		scenarios => [ map { { name => "s$_", workload => "kvm-churn" } } 1 .. 5 ],
		trace => { events => [ map { "raw_syscalls:sys_$_" } qw(enter exit) ] },
		metrics => [ map { { unit => "1", better => "lower", %$_ } } @metrics ] });
	my $state = $lab->finish($id, 600);
	die "bench: the experiment is $state\n" if $state ne "done" || $lab->stop;
}

# What is added to a number of the copy k: every experiment has as many of each as the first.
sub copies_sql {
	my $lab  = "$data/lab.db";
	my %step = map { my ($n) = rows($lab, "SELECT max(id) FROM $_"); $_ => $n } qw(slot boot run);
	my $sql  = "BEGIN; CREATE TEMP TABLE copy AS SELECT value AS k FROM generate_series(1, " . ($experiments - 1) . ");\n";
	for my $table (qw(experiment arm scenario metric slot boot run run_event ring loss sample run_check void_pair result compare)) {
		my @columns = rows($lab, "SELECT name FROM pragma_table_info('$table')");
		my @values  = map {
			my $of = $_ eq "id" ? $table : $_;
			$of eq "experiment" ? "$_ + k" : $step{$of} ? "$_ + k * $step{$of}" : "\"$_\"";
		} @columns;
		$sql .= "INSERT INTO \"$table\" (" . join(", ", map { "\"$_\"" } @columns) . ") SELECT " . join(", ", @values)
			. " FROM \"$table\", copy ORDER BY k;\n";
	}
	# A tenth are A/A experiments: a floor is made of all their pairs.
	return ("$sql UPDATE experiment SET kind = 'aa' WHERE id % 10 = 0; COMMIT; PRAGMA wal_checkpoint(TRUNCATE);\n", $step{run});
}

sub copy_events {
	my ($runs) = @_;
	my $first  = "$data/events/1.db";
	my @tables = rows($first, "SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c ON c.name = 'run' WHERE m.type = 'table'");
	for my $k (1 .. $experiments - 1) {
		my $file = "$data/events/" . (1 + $k) . ".db";
		system("cp", $first, $file) == 0 or die "bench: no copy of $first\n";
		sqlite($file, "PRAGMA journal_mode = OFF; BEGIN;"
			. join("", map { "UPDATE \"$_\" SET run = run + " . $k * $runs . ";" } @tables)
			. "COMMIT; PRAGMA journal_mode = WAL;\n") if -s $file;
	}
}

sub make_lab {
	remove_tree($data);
	make_path($data);
	first_experiment();
	my $need = $experiments * (-s "$data/events/1.db") * 1.2 + (1 << 30);
	my ($free) = (split " ", (qx(df -PB1 '$data'))[1])[3];
	die sprintf("bench: %s needs %.1f GB and has %.1f\n", $data, $need / 1e9, $free / 1e9) if $free < $need;
	my ($sql, $runs) = copies_sql();
	sqlite("$data/lab.db", $sql);
	copy_events($runs);
}

sub median { my @v = sort { $a <=> $b } @_; return $v[ $#v / 2 ] }

# Milliseconds of each call, after one that nobody counts.
sub took {
	my ($n, $code) = @_;
	$code->(1);
	return map { my $t = time; $code->($_); 1000 * (time - $t) } 1 .. $n;
}

# The labs of two schemas are two labs.
my $sha = Digest::SHA->new(256);
$sha->addfile($_) for glob "$Labd::top/schema/*.sql";
my $key = "$experiments " . $sha->hexdigest;
my $kept = -e "$cache/key" ? do { open my $fh, "<", "$cache/key" or die; scalar <$fh> // "" } : "";
if ($kept ne $key) {
	my $start = time;
	make_path($cache);
	unlink "$cache/key";
	make_lab();
	put("$cache/key", $key);
	printf "lab of %d experiments made in %.0f s\n", $experiments, time - $start;
}

my $start = time;
my $lab   = Labd->new(data => $data, args => [ "--builds", "$cache/subject/builds", "--images", "$cache/subject/images" ]);
my ($n_runs) = $lab->value("SELECT count(*) FROM run");
my ($n_events) = $lab->value("SELECT sum(events) FROM run");
printf "%d experiments, %d runs, %.1f M raw events; labd starts in %.0f ms\n", $experiments, $n_runs, $n_events / 1e6, 1000 * (time - $start);

my $http = HTTP::Tiny->new(timeout => 60);
sub get {
	my $r = $http->get($lab->url . "/api/v1/experiments$_[0]");
	die "bench: $_[0]: $r->{status} $r->{content}\n" if $r->{status} != 200;
	return length $r->{content};
}
# A number of an experiment that was not asked for lately.
sub any { return 1 + $_[0] * 37 % $experiments }

# The same asked by the sqlite3 shell of 20 experiments' tables, milliseconds of one; to start it is no part of that.
sub shell {
	my ($sql) = @_;
	my $script = join "", map {
		my $id = any($_);
		"ATTACH 'file:$data/events/$id.db?mode=ro' AS events;\n" . $sql =~ s/:e\b/$id/gr . ";\nDETACH events;\n";
	} 1 .. 20;
	my ($all, $idle) = map {
		my $file = put("$cache/peer.sql", $_);
		median(took(3, sub { system("sqlite3 -readonly -bail '$data/lab.db' <'$file' >/dev/null") == 0 or die "bench: sqlite3 failed\n" }));
	} $script, "SELECT 1;";
	return max(0.01, ($all - $idle) / 20);
}
my $runs_of = "run r JOIN slot s ON s.id = r.slot WHERE s.experiment = :e";
for my $case (
	[ "list page", 50, sub { get("?limit=50") }, "SELECT * FROM experiment ORDER BY id DESC LIMIT 50" ],
	[ "experiment", 150, sub { get("/" . any($_[0])) }, "SELECT * FROM experiment WHERE id = :e" ],
	[ "its results", 150, sub { get("/" . any($_[0]) . "/results") },
		"SELECT a.* FROM sample a JOIN run r ON r.id = a.run JOIN slot s ON s.id = r.slot WHERE s.experiment = :e;"
		. "SELECT * FROM result WHERE experiment = :e; SELECT * FROM compare WHERE experiment = :e" ],
	[ "its boots", 150, sub { get("/" . any($_[0]) . "/boots?limit=500") },
		"SELECT b.*, r.* FROM boot b JOIN run r ON r.boot = b.id JOIN slot s ON s.id = b.slot WHERE s.experiment = :e" ],
	[ "ECDF of a field", 500, sub { get("/" . any($_[0]) . "/ecdf?metric=bytes&scenario=s3") },
		"SELECT e.run, ret FROM events.ev_raw_syscalls_sys_exit e WHERE run IN (SELECT r.id FROM $runs_of AND r.scenario = 's3') ORDER BY 1, 2" ],
	[ "ECDF of pairs", 500, sub { get("/" . any($_[0]) . "/ecdf?metric=call_p999&scenario=s3") },
		"SELECT run, ts_ns - b FROM (SELECT run, ts_ns, lag(ts_ns) OVER (PARTITION BY run, pid ORDER BY ts_ns) AS b FROM"
		. " (SELECT run, pid, ts_ns FROM events.ev_raw_syscalls_sys_enter UNION ALL SELECT run, pid, ts_ns FROM events.ev_raw_syscalls_sys_exit)"
		. " WHERE run IN (SELECT r.id FROM $runs_of AND r.scenario = 's3')) ORDER BY 1, 2" ]) {
	my ($name, $limit, $ours, $sql) = @$case;
	my @ms   = took(20, $ours);
	my $peer = shell($sql);
	printf "  %-18s %7.1f ms   (at most %.1f; goal %d)   sqlite3 on the tables %7.2f ms, labd / sqlite3 %.2f%s\n", $name,
		median(@ms), max(@ms), $limit, $peer, median(@ms) / $peer, median(@ms) > $limit ? "   TOO SLOW" : "";
}
$lab->stop;
system("$Labd::build/tests/bench/bench_result", $data, int($experiments / 2), 5) == 0 or die "bench: result_update failed\n";
