#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# An experiment leaves one labd as an archive and is the same in another one that has experiments of its own. Archives
# that are damaged or doctored are refused, and a labd that is killed meanwhile has the experiment whole or not at all.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Digest::SHA qw(sha256_hex);
use File::Temp qw(tempdir);
use JSON::PP;
use Labd;
use Test::More;
use Time::HiRes qw(sleep);

my $dir       = tempdir(CLEANUP => 1);
my $kernel_id = "ab" x 20;
mkdir "$dir/$_" for qw(builds images);

sub put {
	my ($file, $bytes) = @_;
	open my $fh, ">:raw", $file or die "$file: $!";
	print $fh $bytes;
	close $fh or die "$file: $!";
	return $file;
}

sub get {
	my ($file) = @_;
	open my $fh, "<:raw", $file or die "$file: $!";
	local $/;
	return scalar <$fh>;
}

put("$dir/bzImage", "a kernel");
put("$dir/cpio",    "an image");
put("$dir/builds/kvm-$_.json", encode_json({ name => "kvm-$_", subject => "kvm", kernel => "$dir/bzImage",
	build_id => $kernel_id })) for qw(base hint);
put("$dir/images/kvm.json", encode_json({ name => "kvm", image => "$dir/cpio", sha256 => "ef" x 32,
	files => [ { path => "/bin/kvm-churn", sha256 => "ef" x 32 } ] }));
my %env = (LABD_QEMU => "$Labd::top/tests/lib/fake-qemu", FAKE_BUILD_ID => $kernel_id,
	FAKE_CAPTURE => "$Labd::top/tests/fuzz/seeds/fuzz_tracedat/sched.dat", FAKE_WORKLOAD => '{"madvise_total_ns": 12345}');

sub lab {
	my (%more) = @_;
	return Labd->new(args => [ "--builds", "$dir/builds", "--images", "$dir/images" ], env => \%env, %more);
}

my $spec = Labd::descriptive(Labd::spec("experiments/kvm-first.json"));
$spec->{rounds}        = 1;
$spec->{trace}{events} = ["sched:sched_switch"];
$spec->{metrics}       = [
	{ name => "next_pids", event => "sched:sched_switch", field => "next_pid", agg => "sum", unit => "1",
		better => "lower" },
	{ name => "prev_prio", event => "sched:sched_switch", field => "prev_prio", agg => "p99.9", unit => "1" },
	{ name => "zap_total", workload_key => "madvise_total_ns", unit => "ns" } ];
my @scenarios = @{ $spec->{scenarios} };

sub experiment {
	my ($lab, $n) = @_;
	$spec->{scenarios} = [ @scenarios[ 0 .. $n - 1 ] ];
	my $r = $lab->request("POST", "/api/v1/experiments", $spec, "Idempotency-Key" => "secret-key-$n-" . rand);
	my $id = $r->{json}{id} or die $r->{content};
	is($lab->finish($id, 120), "done", "experiment $id is done") or BAIL_OUT($lab->log);
	return $id;
}

sub change {
	my ($file, $sql) = @_;
	system("sqlite3", "-cmd", ".timeout 20000", $file, $sql) == 0 or die "sqlite3: $sql";
}

my ($here, $there) = (lab(), lab());
experiment($here, 1);
my $id = experiment($here, 2);
experiment($there, 1) for 1 .. 2;

# As if a boot had failed: the numbers in reasons are the experiment's own, too.
change("$here->{data}/lab.db", "INSERT INTO void_pair SELECT $id, 1, scenario, 'hint',
	printf('base: run %d: boot %d ended: panic in run 7', max(id), max(boot)) FROM run");
my @tokens = map { $_->[0] } $here->sql("SELECT token FROM boot");
is(scalar(grep { length == 32 } @tokens), 4, "boots have tokens");

my $archive = "$dir/one.tar.gz";
my ($code, $out) = $here->labctl("--data", $here->{data}, "export", $id, "-o", $archive);
is($code, 0, "the experiment is exported") or BAIL_OUT($out);
my $top = "labd-experiment-$id";

# Unpacks, changes, sums anew unless that is what is changed, packs.
my $packed = 0;

sub repack {
	my ($change, %opt) = @_;
	my ($folder, $file) = ("$dir/repack" . ++$packed, "$dir/repack$packed.tar.gz");
	mkdir $folder;
	system("tar", "-C", $folder, "-xzf", $archive) == 0 or die "tar";
	$change->("$folder/$top") if $change;
	system("cd '$folder/$top' && find . -type f ! -name SHA256SUMS -printf '%P\\n' | xargs sha256sum >SHA256SUMS") == 0
		or die "sha256sum" if !$opt{sums};
	system("tar", "-C", $folder, "-czf", $file, @{ $opt{tar} // [] }, $top) == 0 or die "tar";
	return $file;
}

subtest "what is in it" => sub {
	my $folder = "$dir/look";
	mkdir $folder;
	system("tar", "-C", $folder, "-xzf", $archive);
	is(system("cd '$folder/$top' && sha256sum --quiet -c SHA256SUMS"), 0, "its sums are right");
	my $about = decode_json(get("$folder/$top/archive.json"));
	my $schema = $here->value("PRAGMA user_version");
	is("$about->{format} $about->{schema} $about->{experiment}", "1 $schema $id", "archive.json says what it is");
	like($about->{exported}, qr/^20.*Z$/, "and when");
	ok((grep { $_ eq "builds/kvm-base.log" } @{ $about->{missing} }), "what is missing is named");
	is(decode_json(get("$folder/$top/builds/kvm-base.json"))->{build_id}, $kernel_id, "the builds are in it");
	my $secrets = join "|", @tokens, "secret-key";
	is(qx{grep -rlaE '$secrets' $folder}, "", "no secret is in it");
	isnt(qx{grep -rlaE '$secrets' $here->{data}}, "", "though labd has them");
	my @tables = map { $_->[0] } $here->sql("SELECT DISTINCT m.name FROM sqlite_schema m, pragma_table_info(m.name) x
		WHERE m.type = 'table' AND x.name IN ('experiment', 'run', 'slot', 'boot') AND m.name <> 'import'");
	for my $table (@tables, "experiment") {
		my %rows = map { $_ => qx{sqlite3 '$_' 'SELECT count(*) FROM "$table"'} + 0 } "$folder/$top/lab.db", "$here->{data}/lab.db";
		my ($copy, $all) = @rows{ "$folder/$top/lab.db", "$here->{data}/lab.db" };
		ok($copy < $all || !$all || $table eq "void_pair", "$table: rows of the other experiment are not ($copy of $all)");
	}
};

($code, $out) = $there->labctl("import", $archive);
is($code, 0, "it is imported") or BAIL_OUT($out . $there->log);
my ($new) = $out =~ m{^experiment (\d+): http://127\.0\.0\.1:\d+/experiments/\1$}m;
is($new, 3, "as the next experiment: $out") or BAIL_OUT($out);

my %shift = (experiment => $new - $id);
for my $table (qw(run boot)) {
	my ($a, $b) = map { $_->[0]->value("SELECT min($table) FROM v_run WHERE experiment = $_->[1]") } [ $here, $id ], [ $there, $new ];
	$shift{$table} = $b - $a;
}
ok($shift{run} > 0 && $shift{run} < 4, "old numbers and new ones overlap");

# What the first labd says, with the second one's numbers.
sub shifted {
	my ($value, $key) = @_;
	return { map { $_ => shifted($value->{$_}, $_) } keys %$value } if ref $value eq "HASH";
	return [ map { shifted($_, $key) } @$value ] if ref $value eq "ARRAY";
	return $value if !defined $value || ref $value;
	return $value + $shift{ $key eq "incomplete" ? "run" : $key } if $key =~ /^(run|boot|experiment|incomplete)$/;
	$value =~ s/((?:^|: )(run|boot)) (\d+)/"$1 " . ($3 + $shift{$2})/ge if $key eq "reason";
	return $value;
}

# A row of the second labd's, with the first one's where it differs by no more than a number's shift.
sub near {
	my ($old, $row) = @_;
	return [ map {
		my ($x, $y) = ($old->[$_] // "", $row->[$_]);
		($x =~ /^\d+$/ && $y =~ /^\d+$/ && grep { $y - $x == $_ } values %shift)
			|| $y eq ($x =~ s{^(captures)/$id/(\d+)}{"$1/$new/" . ($2 + $shift{run})}er) ? $x : $y;
	} 0 .. $#$row ];
}

subtest "the same numbers" => sub {
	my ($a, $b) = ($here->get("/api/v1/experiments/$id/results")->{json}, $there->get("/api/v1/experiments/$new/results")->{json});
	my $origin = delete $b->{origin};
	delete $a->{origin};
	is_deeply($b, shifted($a, ""), "the results are equal but for the numbers");
	is("$origin->{experiment} $origin->{file}", "$id one.tar.gz", "and whence they are is said");
	is($origin->{sha256}, sha256_hex(get($archive)), "with the archive's hash");
	like($b->{void_pairs}[0]{reason}, qr/^base: run 8: boot 6 ended: panic in run 7$/, "reasons name the new ones");
	my @text = map { $_->[0]->get("/api/v1/experiments/$_->[1]/report")->{content} =~ s/\Q$_->[0]{data}\E/DATA/gr } [ $here, $id ], [ $there, $new ];
	s/\b(run|boot|experiment)( = | )\d+/$1 N/g for @text;
	s/^origin .*\n( +.*\n)*//m for @text;
	is($text[1], $text[0], "the reports are equal but for the numbers");
	for my $path ("ecdf?metric=prev_prio&scenario=$scenarios[0]{name}") {
		my ($x, $y) = map { $_->[0]->get("/api/v1/experiments/$_->[1]/$path") } [ $here, $id ], [ $there, $new ];
		is($y->{status}, $x->{status}, "$path: the same status");
		is_deeply($y->{json}, shifted($x->{json}, ""), "$path: the same curves") if $x->{status} == 200;
	}
	my $there_are = 0;
	for my $query (Labd::doc_queries()) {
		my ($x, $y) = map { my $side = $_; eval { [ $side->[0]->sql($query->{sql}, $side->[1]) ] } } [ $here, $id ], [ $there, $new ];
		is(!!$y, !!$x, "docs/sql.md, $query->{title}: answered by both or by none") or next;
		next if !$x;
		$there_are += @$x;
		is_deeply([ map { near($x->[$_], $y->[$_]) } 0 .. $#$y ], $x, "$query->{title}: the same");
	}
	ok($there_are > 20, "$there_are rows in all");
	for my $table (map { $_->[0] } $here->sql("SELECT name FROM events.sqlite_schema WHERE type = 'table'", $id)) {
		my @rows = map { join "\n", map { "@$_" } $_->[0]->sql("SELECT * FROM events.\"$table\"", $_->[1]) } [ $here, $id ], [ $there, $new ];
		$rows[0] =~ s/^(\d+)/$1 + $shift{run}/gme if $table ne "event_format";
		s{captures/\d+/\d+}{FILE}g for @rows;
		is($rows[1], $rows[0], "events of $table are equal");
	}
	my @runs = $there->sql("SELECT run, capture, sha256 FROM v_run WHERE experiment = $new");
	is(scalar @runs, 4, "four runs");
	for my $run (@runs) {
		is($run->[1], "captures/$new/$run->[0].dat", "its capture has a name of this labd's");
		is(sha256_hex($there->get("/api/v1/runs/$run->[0]/capture")->{content}), $run->[2], "and is the same");
	}
	for my $boot (map { $_->[0] } $there->sql("SELECT boot FROM v_boot WHERE experiment = $new")) {
		like($there->get("/api/v1/boots/$boot/console")->{content}, qr/Linux version/, "boot $boot has its console");
	}
	is($there->value("SELECT count(*) FROM pragma_foreign_key_check"), 0, "and no row is lost");
	is($there->value("SELECT count(*) FROM v_run WHERE experiment < $new"), 4, "the others are as they were");
};

# Answers what an import was refused with; nothing is left of it.
sub refused {
	my ($file, $why, $name, $lab) = @_;
	$lab //= $there;
	my $before = join "\n", qx{cd '$lab->{data}' && find archives captures consoles events -type f 2>/dev/null | grep -v -e -wal -e -shm | sort};
	my $n = $lab->value("SELECT count(*) FROM experiment");
	my ($c, $o) = $lab->labctl("import", $file);
	is($c, 1, "$name is refused");
	like($o, $why, "$name: $o");
	is($lab->value("SELECT count(*) FROM experiment"), $n, "$name: no experiment");
	is(join("\n", qx{cd '$lab->{data}' && find archives captures consoles events -type f 2>/dev/null | grep -v -e -wal -e -shm | sort}), $before, "$name: nothing is left");
	ok($lab->until(10, sub { !-e "$lab->{data}/captures/archive" }), "$name: not even its folder");
}

subtest "refused" => sub {
	my ($run) = $here->value("SELECT min(run) FROM v_run WHERE experiment = $id");
	my $capture = "captures/$id/$run.dat";
	my $flip = sub {
		my $bytes = get("$_[0]/$capture");
		substr($bytes, 5000, 1) ^= "\1";
		put("$_[0]/$capture", $bytes);
	};
	my $sql = sub { my ($file, @sql) = @_; return sub { change("$_[0]/$file", $_) for @sql } };
	my $link = sub { symlink "/etc/passwd", "$_[0]/spec.json~" and rename "$_[0]/spec.json~", "$_[0]/spec.json" };
	my $events = "events/$id.db";
	refused($archive, qr/it is experiment $new already/, "the same archive");
	refused(repack($flip, sums => 1), qr/damaged: \Q$capture\E is not as its SHA256SUMS says/, "a flipped byte");
	refused(repack($flip), qr/\Q$capture\E is another than was measured from/, "one that is summed anew");
	refused(repack(undef, tar => [ "--transform", "s,^$top/spec.json,../x," ]), qr/"\.\.\/x" leads out of the archive/, "a way out");
	refused(repack(undef, tar => [ "-P", "--transform", "s,^$top/spec.json,/tmp/x," ]), qr/"\/tmp\/x" leads out/, "a root");
	refused(repack($link), qr/spec\.json" is a link/, "a symlink");
	refused(repack(sub { unlink "$_[0]/spec.json"; link "$_[0]/lab.db", "$_[0]/spec.json" }), qr/" is a link/, "a hard link");
	refused(repack(sub { put("$_[0]/run.sh", "x") }), qr/run\.sh" is none that labctl export makes/, "another file");
	refused(repack(sub { unlink "$_[0]/$capture" }, sums => 1), qr/\Q$capture\E is missing in it/, "a file too few");
	refused(repack(sub { put("$_[0]/builds/x.log", "x") }, sums => 1), qr/does not know builds\/x\.log/, "a file too many");
	refused(repack(sub { unlink "$_[0]/archive.json" }), qr/no archive\.json/, "no archive.json");
	refused(repack(sub { put("$_[0]/archive.json", '{"format": 2, "experiment": 1}') }), qr/format 2, this labd knows 1/, "another format");
	refused(repack(sub { put("$_[0]/archive.json", '{"format": 1, "experiment": 9}') }), qr/of another experiment/, "another number");
	refused(repack($sql->("lab.db", "PRAGMA user_version = 9999")), qr/lab\.db is of schema 9999.*newer labd/, "a newer schema");
	refused(repack($sql->($events, "PRAGMA user_version = 9999")), qr/\.db is of schema 9999.*newer labd/, "newer events");
	refused(repack($sql->($_, "CREATE TRIGGER t AFTER INSERT ON run BEGIN SELECT 1; END")),
		qr/has a trigger "t", which labd does not make/, "a trigger in $_") for "lab.db", $events;
	refused(repack($sql->("lab.db", "DROP VIEW v_check", "CREATE VIEW v_mine AS SELECT 1")), qr/a view "v_mine"/, "a view");
	refused(repack($sql->("lab.db", "CREATE VIRTUAL TABLE f USING fts5(x)")), qr/has a table "f/, "a virtual table");
	refused(repack($sql->($events, "CREATE VIEW \"ev_bad\" AS SELECT randomblob(1e9) AS run")), qr/a view "ev_bad"/, "a view that computes");
	refused(repack($sql->($events, 'CREATE VIEW "ev_bad" AS SELECT "run" FROM "run", "run_cpu"')), qr/a view "ev_bad"/, "one that joins");
	refused(repack($sql->($events, 'CREATE VIEW "ev_a" AS SELECT "run" FROM "run"', 'CREATE VIEW "ev_b" AS SELECT "run" FROM "ev_a"')),
		qr/ev_b is of another view/, "one of another");
	refused(repack($sql->("lab.db", "UPDATE experiment SET state = 'running'")), qr/experiment is still running/, "one that runs");
	refused(repack($sql->("lab.db", "PRAGMA foreign_keys = OFF", "UPDATE run SET boot = 99 WHERE id = $run")), qr/rows of run belong to none/, "rows of nobody");
	refused(repack($sql->("lab.db", "UPDATE run SET capture = '../../etc/passwd' WHERE id = $run")), qr/names a capture as labd does not/, "another's file");
	refused(repack($sql->("lab.db", "ALTER TABLE build_event ADD COLUMN \"event\"\") SELECT 1 --\" TEXT")),
		qr/table build_event has a column that labd does not make/, "a column whose name is SQL");
	refused(repack($sql->("lab.db", "UPDATE experiment SET machine_json = '{'")), qr/experiment\.machine_json is no JSON/, "no JSON");
	refused(repack($sql->($events, "UPDATE run SET run = 77 WHERE run = $run")), qr/events have a run 77/, "events of another run");
	refused(repack(sub { put("$_[0]/lab.db", "no database" x 999) }), qr/lab\.db is damaged/, "no database");
	my $bytes = get($archive);
	refused(put("$dir/cut.tar.gz", substr $bytes, 0, length($bytes) / 2), qr/it is damaged/, "a truncated archive");
	refused(put("$dir/zip.tar.gz", "\x1f\x8b" . "x" x 999), qr/it is damaged/, "what is none");
};

subtest "without captures, into an empty labd" => sub {
	my $slim = "$dir/slim.tar.gz";
	($code, $out) = $here->labctl("--data", $here->{data}, "export", "--no-captures", $id, "-o", $slim);
	is($code, 0, "hashes alone are exported") or diag $out;
	unlike(qx{tar -tzf $slim}, qr/captures/, "without captures");
	my $empty = lab();
	($code, $out) = $empty->labctl("import", $slim);
	like($out, qr/^experiment 1: /, "it is the first experiment there");
	is(join(" ", map { "@$_" } $empty->sql("SELECT r.run, count(*) > 0 FROM v_run r JOIN events.ev_sched_sched_switch e ON e.run = r.run GROUP BY 1", 1)),
		"1 1 2 1 3 1 4 1", "with its events, by lower numbers");
	is($empty->get("/api/v1/runs/1/capture")->{status}, 404, "a capture that is not there is not found");
	is($empty->value("SELECT group_concat(sha256) FROM v_run"), $here->value("SELECT group_concat(sha256) FROM v_run WHERE experiment = $id"), "its hash is");
	is(experiment($empty, 1), 2, "the next one has the next number");

	# One of an older schema: the same rows as far as its tables had columns for them.
	my $old = repack(sub {
		my ($db, $sql) = ("$_[0]/lab.db", join "", map { get($_) } grep { !/005_/ } sort glob "$Labd::top/schema/00*.sql");
		rename $db, "$db.new";
		change($db, "\n$sql; PRAGMA user_version = 4");
		for my $table (split /\n/, qx{sqlite3 '$db' "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB 'sqlite_*'"}) {
			my $columns = qx{sqlite3 '$db' "SELECT group_concat(name) FROM pragma_table_info('$table')"};
			chomp $columns;
			change($db, "ATTACH '$db.new' AS new; INSERT INTO main.$table SELECT $columns FROM new.$table");
		}
		unlink "$db.new";
	});
	($code, $out) = $empty->labctl("import", $old);
	like($out, qr/^experiment 3: /, "one of schema 4 is brought up to date") or diag $empty->log;
	is($empty->value("SELECT kind FROM v_experiment WHERE experiment = 3"), "ab", "with what it did not have");
	is($empty->value("SELECT count(*) FROM v_sample WHERE experiment = 3"), $here->value("SELECT count(*) FROM v_sample WHERE experiment = $id"), "and all samples");

	# Left by a labd that was killed.
	$empty->stop;
	change("$empty->{data}/lab.db", "INSERT INTO import (name, path, state, database, created) VALUES ('x', '$archive', 'queued', 'events/9.db', 0)");
	mkdir "$empty->{data}/captures/$_" for 9, "archive";
	put("$empty->{data}/$_", "left") for qw(captures/9/1.dat captures/archive/x consoles/9-1-1.log events/9.db);
	put("$empty->{data}/consoles/99-1-1.log", "another's");
	$empty->start;
	ok($empty->until(60, sub { $empty->get("/api/v1/imports/3")->{json}{state} eq "done" }), "an import that was begun is done") or diag $empty->log;
	is(join(" ", grep { -e "$empty->{data}/$_" } qw(captures/9 captures/archive/x consoles/9-1-1.log events/9.db)), "", "what was left is gone");
	ok(-e "$empty->{data}/consoles/99-1-1.log", "not what is another's");

	# The same, and the archive is gone since.
	$empty->stop;
	change("$empty->{data}/lab.db", "INSERT INTO import (name, path, state, database, created) VALUES ('x', '/nowhere/x.tar.gz', 'queued', 'events/12.db', 0)");
	mkdir "$empty->{data}/captures/12";
	put("$empty->{data}/$_", "left") for qw(captures/12/1.dat events/12.db);
	$empty->start;
	ok($empty->until(60, sub { $empty->get("/api/v1/imports/4")->{json}{state} eq "failed" }), "one without its archive fails") or diag $empty->log;
	is(join(" ", grep { -e "$empty->{data}/$_" } qw(captures/12 events/12.db)), "", "and leaves nothing");
};

subtest "killed meanwhile" => sub {
	my %seen;
	for my $delay (map { $_ * 0.04 } 0 .. 7) {
		my $lab = lab();
		my $r = $lab->request("POST", "/api/v1/imports", { path => $archive });
		sleep $delay;
		$lab->stop("KILL");
		my @rows = map { $_->[0] } $lab->sql("SELECT (SELECT count(*) FROM run) FROM experiment");
		ok(!@rows || $rows[0] == 4, sprintf "%.2f s: absent or whole", $delay);
		$seen{ scalar @rows }++;
		$lab->start;
		ok($lab->until(60, sub { $lab->get("/api/v1/imports/$r->{json}{id}")->{json}{state} eq "done" }), "done after the restart");
		my ($e) = map { $_->[0] } $lab->sql("SELECT id FROM experiment");
		is($lab->value("SELECT count(*) FROM experiment e, run"), 4, "once, whole");
		$lab->until(10, sub { !-e "$lab->{data}/captures/archive" });
		is(join(" ", map { s/.*\///r } glob "$lab->{data}/captures/* $lab->{data}/archives/*"), "$e $e", "and nothing else");
		is(scalar(() = glob "$lab->{data}/captures/$e/*.dat"), 4, "with its captures");
	}
	note "absent: " . ($seen{0} // 0) . ", whole: " . ($seen{1} // 0);
};

done_testing;
