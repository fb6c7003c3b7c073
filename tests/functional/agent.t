#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# lab-agent on this host, over a socket pair: a recording that trace-cmd reads, and the ways a run can go wrong.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Compress::Zlib qw(crc32);
use File::Temp qw(tempdir);
use JSON::PP;
use POSIX ();
use Socket;
use Test::More;

my $agent = ($ENV{O} || "$FindBin::Bin/../../build") . "/lab-agent";
plan skip_all => "recording needs root" if $>;
system "mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null" if !-e "/sys/kernel/tracing/instances";
plan skip_all => "no tracefs with raw_syscalls here" if !-e "/sys/kernel/tracing/events/raw_syscalls/sys_enter";
plan skip_all => "no trace-cmd here" if system "command -v trace-cmd >/dev/null";

my %type = (HELLO => 1, JOB => 2, STARTED => 3, FILE => 4, DATA => 5, DONE => 6, QUIT => 7,
	EVENTS => 10);
my $dir = tempdir("labd-agent-XXXXXX", TMPDIR => 1, CLEANUP => 1);
my ($host, $pid);

sub script {
	my ($name, $text) = @_;
	open my $file, ">", "$dir/$name" or die "$name: $!";
	print $file "#!/bin/sh\n$text\n";
	close $file;
	chmod 0755, "$dir/$name";
}

sub start {
	socketpair $host, my $child, AF_UNIX, SOCK_STREAM, PF_UNSPEC or die "socketpair: $!";
	$pid = fork // die "fork: $!";
	if (!$pid) {
		$^F = 1000;
		open my $kept, "+<&", $child or die "dup: $!";
		open STDERR, ">", "$dir/log";
		close $host;
		exec $agent, "--fd", fileno $kept, "--bin", $dir, "--spool", "/dev/shm" or POSIX::_exit(127);
	}
	close $child;
	return receive("HELLO");
}

sub put {
	my ($name, $payload) = @_;
	my $crc = length $payload ? crc32($payload) : 0;
	syswrite $host, pack("L<S<S<L<L<", 0x4642414c, $type{$name}, 0, length $payload, $crc) . $payload;
}

sub take {
	my ($size) = @_;
	my $data = "";
	while (length $data < $size) {
		sysread($host, $data, $size - length $data, length $data) or return undef;
	}
	return $data;
}

# The next frame: its type's number and payload; with a name it must be of that type and is decoded.
sub receive {
	my ($want) = @_;
	my $header = take(16) // die "the agent hung up";
	my ($magic, $type, undef, $size) = unpack "L<S<S<L<", $header;
	die "no frame" if $magic != 0x4642414c;
	my $payload = take($size);
	return ($type, $payload) if !$want;
	die "frame $type instead of $want" if $type != $type{$want};
	return decode_json($payload);
}

# Does a run and answers DONE; the capture is in $dir/capture.
sub job {
	my ($workload, $argv, %trace) = @_;
	my ($got, $size, $file) = (0, 0);
	unlink "$dir/capture";
	put("JOB", encode_json({ run => 7, workload => $workload, argv => $argv, seed => "42", timeout_ms => 20000,
		trace => { events => ["raw_syscalls:sys_enter", "raw_syscalls:sys_exit"], kprobes => [],
			buffer_kib_per_cpu => 32768, clock => "mono", %trace } }));
	while (1) {
		my ($type, $payload) = receive();
		if ($type == $type{FILE}) {
			$size = decode_json($payload)->{size};
			open $file, ">", "$dir/capture" or die "capture: $!";
		} elsif ($type == $type{DATA}) {
			print $file $payload;
			$got += length $payload;
		} elsif ($type == $type{DONE}) {
			close $file if $file;
			is($got, $size, "$workload: the capture is as long as announced");
			return decode_json($payload);
		}
	}
}

sub sum {
	my ($done, $key) = @_;
	my $sum = 0;
	$sum += $_->{$key} for @{ $done->{rings} };
	return $sum;
}

script("busy", 'dd if=/dev/zero of=/dev/null bs=1 count=$1 2>/dev/null; echo "{\"seed\": \"$LABD_SEED\"}"');
script("bad", 'echo no json; echo why >&2; exit 3');
script("stuck", 'sleep 1000 & sleep 1000');

# There is no Xen here, so that this one is never of use.
script("xentrace", 'for file; do :; done; while :; do echo record >$file; sleep 0.1; done');

my $hello = start();
like($hello->{build_id}, qr/^[0-9a-f]{40}$/, "HELLO has the kernel's build-id");
ok($hello->{lists_events}, "and says that the agent can list its events");
put("EVENTS", "");
my $listed = receive("EVENTS")->{events};
is(ref $listed, "ARRAY", "which it does when it is asked: " . @$listed);
is_deeply([ grep { !/^[^:]+:[^:]+$/ || /^labd:/ } @$listed ], [], "by system and name, without its own probes");
is($hello->{env}{cpus}, 0 + qx{getconf _NPROCESSORS_ONLN}, "and its environment");

my $done = job("busy", ["50000"]);
is($done->{state}, "ok", "a run is ok") or diag explain $done;
is($done->{workload}{seed}, "42", "its workload saw the seed");
my $events = qx{trace-cmd report $dir/capture 2>/dev/null | grep -c 'sys_enter:\\|sys_exit:'};
is($events + 0, sum($done, "read"), "trace-cmd finds as many events as the rings gave");
cmp_ok($events, ">", 200000, "among them the workload's");
is(sum($done, "entries") + sum($done, "overrun") + sum($done, "dropped"), 0, "and none was lost");

$done = job("busy", ["100000"], buffer_kib_per_cpu => 16);
$events = qx{trace-cmd report $dir/capture 2>/dev/null | grep -c 'sys_enter:\\|sys_exit:'};
is($events + 0, sum($done, "read"), "with a ring far too small the account still holds");

$done = job("bad", []);
is("$done->{state}, $done->{exit}, $done->{stderr}", "workload-failed, 3, why\n", "a failing workload is told with its words");
is($done->{workload}, undef, "and what it printed is no result");
$done = job("busy", ["1"], events => ["raw_syscalls:nothing"]);
is($done->{state}, "trace-failed", "an event that the kernel lacks is no run");
like($done->{error}, qr/raw_syscalls:nothing/, "and is named");
$done = job("../bin/sh", []);
like($done->{error}, qr/plain name/, "a workload is a name, not a path");

SKIP: {
	skip "there is Xen here", 5 if -e "/dev/xen/privcmd";
	$done = job("busy", ["1"], xen_mask => 0x0810f000);
	is($done->{state}, "trace-failed", "Xen cannot be traced without Xen");
	like($done->{error}, qr{^cannot write to Xen's trace: /dev/xen/privcmd: No such file}, "and what is missing is named");
	is($done->{xen}, undef, "there is no account of a trace that never was");
	ok(!-s "$dir/capture", "and no file");
	is(job("busy", ["1"])->{state}, "ok", "the next run is not harmed");
}
$done = job("busy", ["1"], xen_mask => 0x0010f000);
like($done->{error}, qr/leaves out the guest's records/, "a mask without the anchors' class is refused");

put("JOB", encode_json({ run => 8, workload => "stuck", argv => [], seed => "1", timeout_ms => 300,
	trace => { events => [], kprobes => [], buffer_kib_per_cpu => 64, clock => "mono" } }));
my ($type, $payload);
do { ($type, $payload) = receive() } until $type == $type{DONE};
is(decode_json($payload)->{state}, "workload-timeout", "a workload that does not end is ended");

put("QUIT", "");
waitpid $pid, 0;
is($?, 0, "QUIT ends the agent well");
ok(!-e "/sys/kernel/tracing/instances/labd-$pid", "and leaves no trace instance behind");

done_testing;
