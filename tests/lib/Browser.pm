# SPDX-License-Identifier: GPL-2.0-only
# Runs a browser test, a script of tests/browser for node, against a labd whose machine is tests/lib/fake-qemu.
package Browser;
use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP;
use Labd;

# A labd with the builds kvm-base and kvm-hint, which have a config, a log and patches. mode: FAKE_MODE.
sub lab {
	my ($mode) = @_;
	my $dir = tempdir("labd-browser-XXXXXX", TMPDIR => 1, CLEANUP => 1);
	my $id  = "ab" x 20;
	mkdir "$dir/$_" for qw(builds images);
	my $put = sub {
		my ($file, $bytes) = @_;
		open my $fh, ">:raw", "$dir/$file" or die "$dir/$file: $!";
		print $fh ref $bytes ? JSON::PP->new->utf8->canonical->encode($bytes) : $bytes;
		close $fh or die "$dir/$file: $!";
		return "$dir/$file";
	};
	$put->("bzImage", "a kernel");
	$put->("cpio",    "an image");
	$put->("config",  join "", map { "CONFIG_OPTION_$_=y\n" } 1 .. 50);
	$put->("log",     join "", map { "  CC      kernel/file_$_.o\n" } 1 .. 500);
	$put->("patches", "From " . "0" x 40 . " Mon Sep 17 00:00:00 2001\nFrom: A <a\@example.org>\n"
		. "Subject: [PATCH] Skip page tables known to be empty\n\nThey are.\n---\n a | 1 +\n");
	$put->("builds/kvm-$_.json", { name => "kvm-$_", subject => "kvm", kernel => "$dir/bzImage", build_id => $id,
		base => "linux 6.12", release => "6.12.0", compiler => "gcc", config => "$dir/config", log => "$dir/log",
		$_ eq "hint" ? (series => [ "hint/0001-Skip-page-tables-known-to-be-empty.patch" ], series_text => "$dir/patches")
			: () }) for qw(base hint);
	$put->("images/kvm.json", { name => "kvm", image => "$dir/cpio", sha256 => "ef" x 32,
		files => [ { path => "/bin/kvm-churn", sha256 => "ef" x 32 } ] });
	return Labd->new(args => [ "--builds", "$dir/builds", "--images", "$dir/images" ], env => {
		LABD_QEMU => "$Labd::top/tests/lib/fake-qemu", FAKE_BUILD_ID => $id, FAKE_MODE => $mode // "ok",
		FAKE_CAPTURE => "$Labd::top/tests/fuzz/seeds/fuzz_tracedat/sched.dat",
		FAKE_WORKLOAD => '{"madvise_total_ns": 12345}' });
}

# A spec that such a lab can run, like plan() of the scripts.
sub spec {
	my (%more) = @_;
	return { name => "two arms", machine => "qemu", subject => "kvm", rounds => 5, seed => 3,
		arms => [ map { { name => $_, build => "kvm-$_" } } qw(base hint) ],
		scenarios => [ { name => "same16", workload => "kvm-churn", args => { mode => "same", chunk_mib => 16 } } ],
		trace   => { events => ["sched:sched_switch"] },
		metrics => [
			{ name => "total", workload_key => "madvise_total_ns", unit => "ns", better => "lower", primary => JSON::PP::true },
			{ name => "switches", event => "sched:sched_switch", agg => "count", unit => "1" } ],
		%more };
}

# Runs the script, whose output is the test's; answers its exit code. Screenshots go to O/screenshots.
sub run {
	my ($lab, $script, %env) = @_;
	chomp(my $modules = `"$Labd::top/tests/browser/modules.sh"`);
	die "the browser tests cannot run\n" if $? || !$modules;
	local %ENV = (%ENV, NODE_PATH => $modules, LABD_URL => $lab->url, LABD_TOKEN => $lab->token,
		LABD_SCREENSHOTS => "$Labd::build/screenshots", %env);
	system "node", "--test-reporter=$Labd::top/tests/browser/reporter.mjs", "$Labd::top/tests/browser/$script";
	return $? >> 8 || $? & 127;
}

1;
