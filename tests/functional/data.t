#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# The data directory: locked, read-only, full, damaged, from the future. A clear sentence for each.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use Labd;
use Test::More;

# Starts a labd that should refuse; answers its exit code and what it said.
sub refused {
	my ($data, @args) = @_;
	my $out = qx{timeout 20 $Labd::build/labd --data '$data' --port 0 @args 2>&1};
	return ($? >> 8, $out);
}

my $lab = Labd->new;
my ($code, $out) = refused($lab->{data});
is($code, 1, "a second labd on the same data is refused");
like($out, qr/another labd \(process $lab->{pid}\)/, "and told who has it");
is($lab->get("/healthz")->{status}, 200, "the first one does not mind");
is((stat "$lab->{data}/token")[2] & 0777, 0600, "the token is the owner's only");
is($lab->stop, 0, "SIGTERM ends it well");

chmod 0644, "$lab->{data}/token";
($code, $out) = refused($lab->{data});
is($code, 1, "a token that others can read is refused");
like($out, qr/token can be read by others/, "and said so");
unlike($out, qr/[0-9a-f]{64}/, "without showing it");
chmod 0600, "$lab->{data}/token";

system "sqlite3", "$lab->{data}/lab.db", "PRAGMA user_version = 9999";
($code, $out) = refused($lab->{data});
is($code, 1, "a database of a newer labd is refused");
like($out, qr/schema 9999.*newer labd/, "and said so");

my $damaged = tempdir(CLEANUP => 1);
open my $fh, ">", "$damaged/lab.db" or die;
print $fh "this is no database" x 1000;
close $fh;
($code, $out) = refused($damaged);
is($code, 1, "what is no database is refused");
like($out, qr/not a database/, "and said so");
is(-s "$damaged/lab.db", 19000, "and not touched");

my $file = "$damaged/file";
open $fh, ">", $file and close $fh;
($code, $out) = refused("$file/data");
is($code, 1, "a data directory inside a file is refused");
like($out, qr/cannot be used: Not a directory/, "and said so");

($code, $out) = refused($damaged, "--port 99999");
like($out, qr/--port 99999 is no port/, "a port that is none is refused");
($code, $out) = refused($damaged, "now");
like($out, qr/what is "now"\?/, "so is a word too many");

SKIP: {
	my $mount = tempdir(CLEANUP => 1);
	skip "cannot mount a tmpfs here", 7 if system "mount -t tmpfs -o size=2m none $mount 2>/dev/null";
	eval {
		my $small = Labd->new(data => "$mount/data");
		is($small->get("/healthz")->{status}, 200, "labd starts on a small disk");
		system "dd if=/dev/zero of=$mount/fill bs=4k 2>/dev/null";
		my $r = $small->request("POST", "/api/v1/builds", { name => "x", subject => "kvm", kernel => "/x",
			build_id => "0" x 40, series => [ ("a patch" x 10) x 500 ] });
		is($r->{status}, 507, "a full disk refuses what must be stored") or diag $r->{content};
		like($r->{json}{detail}, qr/data directory is full/, "and says so");
		unlink "$mount/fill";
		is($small->get("/api/v1/builds")->{content} =~ /a patch/, "", "nothing of it was stored");
		$small->stop;
		system "mount -o remount,ro $mount";
		($code, $out) = refused("$mount/data");
		is($code, 1, "a read-only data directory is refused");
		like($out, qr/Read-only file system/i, "and said so");
	};
	is($@, "", "the small disk's tests ran");
	system "umount $mount";
}

done_testing;
