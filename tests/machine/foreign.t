#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# A trace.dat that Debian's trace-cmd recorded by itself, inside one of our machines, imports with equal
# counts and field values, in either version of the file.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use IO::Uncompress::Gunzip qw(gunzip);
use JSON::PP;
use Labd;
use MIME::Base64;
use Test::More;

my $dir = tempdir(CLEANUP => 1);
symlink "$Labd::build/$_", "$dir/$_" for qw(lab-agent kvm-churn);
system "$Labd::top/scripts/image.sh", "--build", $dir, "--output", "kvm", "--extra", "/bin/busybox:/bin/busybox",
	"--extra", "/usr/bin/trace-cmd:/bin/trace-cmd", "--extra", "$FindBin::Bin/record.sh:/bin/record"
	and BAIL_OUT("no image with trace-cmd");

my $lab = Labd->new(args => [ "--images", "$dir/images" ]);
my $id  = $lab->submit({
	name => "recorded by trace-cmd", machine => "qemu", subject => "kvm", rounds => 1,
	arms => [ { name => "a", build => "kvm-base" }, { name => "b", build => "kvm-base" } ],
	scenarios => [ { name => "v6", workload => "record", args => { file_version => 6 } },
		{ name => "v7", workload => "record", args => {} } ],
	trace => { events => ["kvmmmu:kvm_tdp_mmu_zap_leafs"], buffer_kib_per_cpu => 4096 },
	metrics => [ { name => "zaps", event => "kvmmmu:kvm_tdp_mmu_zap_leafs", agg => "count", unit => "1" } ],
});
is($lab->finish($id, 400), "done", "the machines recorded") or diag $lab->log;

sub gunzipped {
	my $packed = shift;
	gunzip(\$packed => \my $plain) or die "gunzip failed";
	return $plain;
}

for my $scenario (qw(v6 v7)) {
	subtest "trace.dat $scenario" => sub {
		my $json = $lab->value("SELECT workload FROM run WHERE scenario = '$scenario' AND state = 'ok' LIMIT 1");
		ok(length $json, "was recorded") or diag(map { "@$_\n" } $lab->sql(
			"SELECT state, reason, json_extract(done_json, '\$.stderr') FROM run")), return;
		my $file = "$dir/$scenario.dat";
		open my $out, ">:raw", $file or die;
		print $out gunzipped(decode_base64(JSON::PP->new->decode($json)->{gz}));
		close $out;
		is(`head -c 12 $file | tail -c 2 | tr -d '\\0'`, substr($scenario, 1), "is of version $scenario");

		my (%count, $visited);
		open my $report, "-|", "trace-cmd", "report", "-R", "-i", $file or die "trace-cmd: $!";
		while (<$report>) {
			next if !/\d+\.\d+:\s+(\w+):\s*(.*)/;
			$count{$1}++;
			$visited += $1 if /\bvisited=(\d+)/;
		}
		close $report;
		cmp_ok($count{kvm_tdp_mmu_zap_leafs} // 0, ">=", 20, "has zaps");

		my ($code, $said) = $lab->labctl("import", $file);
		is($code, 0, "labctl import") or diag $said;
		my $database = $lab->value("SELECT database FROM import ORDER BY id DESC LIMIT 1");
		my $db       = "$lab->{data}/$database";
		my %stored   = map { /:(\w+)\|(\d+)/ ? ($1 => $2) : () }
			`sqlite3 -readonly '$db' 'SELECT event, sum(count) FROM run_span GROUP BY event'`;
		delete $stored{$_} for grep { !$stored{$_} } keys %stored;
		is_deeply(\%stored, \%count, "equal counts of each event") or diag explain [ \%stored, \%count ];
		is(`sqlite3 -readonly '$db' 'SELECT sum(visited) FROM ev_kvmmmu_kvm_tdp_mmu_zap_leafs'` + 0, $visited,
			"equal field values");
	};
}

done_testing;
