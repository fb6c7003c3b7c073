#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# What the machine that counts instructions gives is no matter of the host: the same experiment in two data
# directories, one on an idle host and one beside two CPU hogs, has the same samples and the same events, as sqlite3
# and SHA-256 see them. LABD_SLOW=1 does it ten times, and with Xen.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Digest::SHA qw(sha256_hex);
use Labd;
use POSIX ();
use Test::More;

my $slow  = $ENV{LABD_SLOW};
my $event = "kvmmmu:kvm_tdp_mmu_zap_leafs";
my $kvm   = {
	name => "determinism", machine => "bochs", subject => "kvm", rounds => 1, seed => 3,
	arms => [ map { { name => $_, build => "kvm-$_" } } qw(base hint) ],
	scenarios => [ map { { name => "$_->[0]", workload => "kvm-churn",
		args => { mode => $_->[1], chunk_mib => $_->[2], rounds => 40, mem_mib => 128, vcpus => 2 } } }
		[ same4 => "same", 4 ], [ sweep1 => "sweep", 1 ] ],
	trace => { events => [ $event, "sched:sched_switch" ], buffer_kib_per_cpu => 4096 },
	metrics => [
		{ name => "zap_total", event => $event, field => "duration_ns", agg => "sum", unit => "ns" },
		{ name => "sptes_visited", event => $event, field => "visited", agg => "sum", unit => "1" },
		{ name => "madvise_total", workload_key => "madvise_total_ns", unit => "ns" },
	],
};
my $xen = {
	name => "determinism under Xen", machine => "bochs", subject => "xen", rounds => 1, seed => 3,
	arms => [ map { { name => $_, build => "xen-$_" } } qw(base batch) ],
	scenarios => [ map { { name => "grant$_", workload => "grant-churn",
		args => { batch => $_, batches => 20, warmup => 5 } } } 8, 32 ],
	trace => { events => [qw(xen:grant_unmap_batch xen:page_grant_unmap)], buffer_kib_per_cpu => 4096 },
	metrics => [
		{ name => "batch_total", event => "xen:grant_unmap_batch", field => "duration_ns", agg => "sum", unit => "ns" },
		{ name => "unmaps", event => "xen:page_grant_unmap", agg => "count", unit => "1" },
	],
};

# Busy for as long as the object lives; a test that dies leaves none behind.
package Hogs {
	sub new {
		my ($class, $n) = @_;
		my $parent = $$;
		my @pids;
		for (1 .. $n) {
			my $pid = fork // die "fork: $!";
			if (!$pid) {
				for (my $i = 1;; $i++) {
					POSIX::_exit(0) if $i % 1_000_000 == 0 && getppid != $parent;
				}
			}
			push @pids, $pid;
		}
		return bless { pids => \@pids }, $class;
	}
	sub DESTROY {
		local ($?, $!, $@);
		kill "KILL", @{ $_[0]{pids} };
		waitpid $_, 0 for @{ $_[0]{pids} };
	}
}

# Rows of one database file, joined; each names its run by what the plan calls it, for numbers are the lab's own.
sub rows {
	my ($file, $query) = @_;
	open my $fh, "-|", "sqlite3", "-readonly", "-bail", $file, $query or die "sqlite3: $!";
	local $/;
	my $text = <$fh> // "";
	close $fh or die "sqlite3 failed on: $query\n";
	return $text;
}

sub samples {
	my ($lab, $id) = @_;
	return rows("$lab->{data}/lab.db", "SELECT round, arm, scenario, metric, printf('%!.17g', value), n_events, note, used "
		. "FROM v_sample WHERE experiment = $id ORDER BY 1, 2, 3, 4");
}

# Every table of the file that has rows of runs: events, their counts, the rings' losses, Xen's clock.
sub event_rows {
	my ($file) = @_;
	my $text = "";
	for my $table (split /\n/, rows($file, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'run' "
			. "AND name NOT LIKE 'sqlite%' ORDER BY name")) {
		my @columns = grep { !/^(?:run|first_rowid|last_rowid|capture|sha256)$/ }
			split /\n/, rows($file, "SELECT name FROM pragma_table_info('$table')");
		my $list = join ", ", map { "quote(t.\"$_\")" } @columns;
		my $of_run = rows($file, "SELECT count(*) FROM pragma_table_info('$table') WHERE name = 'run'") > 0;
		# Rows of events stand in the order in which they were stored, which is that of their capture.
		my $order = $table =~ /^ev_/ ? "t.rowid" : $list;
		$text .= "-- $table\n" . ($of_run
			? rows($file, "SELECT r.round, r.arm, r.scenario, $list FROM \"$table\" t JOIN run r USING (run) "
				. "ORDER BY r.round, r.arm, r.scenario, $order")
			: rows($file, "SELECT $list FROM \"$table\" t ORDER BY $order"));
	}
	return $text;
}

# Boots the experiment in a data directory of its own; answers the lab, the experiment, and two hashes.
sub run_it {
	my ($spec, $what) = @_;
	my $lab = Labd->new;
	my $id  = $lab->submit($spec);
	is($lab->finish($id, 1500), "done", "$what: completes") or BAIL_OUT($lab->log);
	diag($_) for $lab->bad_ends($id);
	$lab->stop;
	my $samples = samples($lab, $id);
	my $events  = event_rows("$lab->{data}/events/$id.db");
	cmp_ok($samples =~ tr/\n//, ">=", 8, "$what: has samples");
	cmp_ok($events =~ tr/\n//, ">", 100, "$what: has events");
	return { lab => $lab, file => "$lab->{data}/events/$id.db", texts => [ $samples, $events ],
		hashes => [ map { sha256_hex($_) } $samples, $events ] };
}

# The first line that differs says more than two hashes do.
sub first_difference {
	my @a = split /\n/, $_[0];
	my @b = split /\n/, $_[1];
	for my $i (0 .. ($#a > $#b ? $#a : $#b)) {
		my ($a, $b) = map { $_ // "(none)" } $a[$i], $b[$i];
		return "line $i: $a\n    and: $b" if $a ne $b;
	}
	return "nothing";
}

sub same {
	my ($a, $b, $what) = @_;
	for my $i (0, 1) {
		is($b->{hashes}[$i], $a->{hashes}[$i], "$what: the same " . (qw(samples events))[$i])
			or diag first_difference($a->{texts}[$i], $b->{texts}[$i]);
	}
}

for my $spec ($kvm, $slow ? $xen : ()) {
	my $subject = $spec->{subject};
	my $first;
	for my $pair (1 .. ($slow ? 10 : 1)) {
		my $idle = run_it($spec, "$subject, pair $pair, idle host");
		my $busy;
		{
			my $hogs = Hogs->new(2);
			$busy = run_it($spec, "$subject, pair $pair, beside two hogs");
		}
		same($idle, $busy, "$subject, pair $pair");
		same($first, $idle, "$subject, pair $pair against the first") if $first;
		$first //= $idle;
	}
	my $other = run_it({ %$spec, seed => 4 }, "$subject, another seed");
	isnt($other->{hashes}[$_], $first->{hashes}[$_], "$subject: another seed has other " . (qw(samples events))[$_])
		for 0, 1;

	# One nanosecond of one event is seen.
	my ($table) = split /\n/, rows($first->{file}, "SELECT f.tbl FROM event_format f JOIN run_span s USING (event, version) "
		. "WHERE s.count > 0 ORDER BY 1 LIMIT 1");
	system "sqlite3", $first->{file}, "UPDATE \"$table\" SET ts_ns = ts_ns + 1 WHERE rowid = (SELECT max(rowid) FROM \"$table\")";
	is($?, 0, "$subject: an event of $table is put off by 1 ns");
	isnt(sha256_hex(event_rows($first->{file})), $first->{hashes}[1], "$subject: and the hash is another");
}
done_testing;
