#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# lab-agent on this host over a disk image: two jobs that it found there, and all it had to say, in order.
use strict;
use warnings;
use FindBin;
use Compress::Zlib qw(crc32);
use File::Temp qw(tempdir);
use JSON::PP;
use Test::More;

my $agent = ($ENV{O} || "$FindBin::Bin/../../build") . "/lab-agent";
plan skip_all => "recording needs root" if $>;

my %type = (HELLO => 1, JOB => 2, STARTED => 3, DONE => 6, QUIT => 7);
my $dir = tempdir("labd-disk-XXXXXX", TMPDIR => 1, CLEANUP => 1);
my $image = "$dir/image";

sub frame {
	my ($name, $payload) = @_;
	return pack("L<S<S<L<L<", 0x4642414c, $type{$name}, 0, length $payload, length $payload ? crc32($payload) : 0) . $payload;
}

# The payload is refused before anything is traced, so that this needs no tracefs.
sub job {
	my ($run) = @_;
	return frame("JOB", encode_json({ run => $run, workload => "../bin/sh", argv => [], seed => "1", timeout_ms => 1000,
		trace => { events => [], kprobes => [], buffer_kib_per_cpu => 64, clock => "mono" } }));
}

# An image of that many sectors with these frames for the agent.
sub make_image {
	my ($sectors, $frames) = @_;
	my $layout = pack "L<5", 0x4b53444c, $sectors, 1, length $frames, 1 + int((length($frames) + 511) / 512);
	open my $file, ">:raw", $image or die "$image: $!";
	print $file pack("a512", $layout . pack("L<", crc32($layout))), $frames;
	truncate $file, $sectors * 512;
	close $file;
	return (unpack "L<5", $layout)[4];
}

# The bytes of all chunks from that sector on.
sub stream {
	my ($sector) = @_;
	my ($stream, $sequence) = ("", 0);
	open my $file, "<:raw", $image or die "$image: $!";
	while (1) {
		seek $file, $sector * 512, 0;
		my ($header, $payload);
		read $file, $header, 16;
		my ($magic, $number, $length, $crc) = unpack "L<4", $header;
		last if !$magic;
		die "no chunk $sequence" if $magic != 0x4b48434c || $number != $sequence++;
		read $file, $payload, $length;
		die "a wrong checksum" if $crc != crc32(substr($header, 0, 12) . $payload);
		$stream .= $payload;
		$sector += int((16 + $length + 511) / 512);
	}
	return $stream;
}

sub run_agent {
	return system "timeout 30 $agent --disk $image --bin $dir --spool /dev/shm 2>$dir/log";
}

my $out = make_image(1000, job(1) . job(2) . frame("QUIT", ""));
is(run_agent(), 0, "QUIT on the image ends the agent well");
my @frames;
my $stream = stream($out);
while ($stream) {
	my (undef, $type, undef, $size) = unpack "L<S<S<L<", $stream;
	push @frames, [$type, decode_json(substr $stream, 16, $size)];
	substr $stream, 0, 16 + $size, "";
}
is(join(",", map { $_->[0] } @frames), "1,6,6", "HELLO and a DONE for each job, nothing else");
like($frames[0][1]{build_id}, qr/^[0-9a-f]{40}$/, "HELLO is whole");
is(join(",", map { $_->[1]{run} } @frames[1, 2]), "1,2", "the jobs were done in order");
like($frames[2][1]{error}, qr/plain name/, "and told how they went");

$out = make_image(1000, job(1));
run_agent();
is(qx{tail -1 $dir/log}, "<3>the disk to the host failed: Bad message\n", "an image that does not say how it goes on is an error");
is(scalar(my @starts = stream($out) =~ /LABF/g), 2, "which comes after what could be done");

open my $file, "+<:raw", $image or die "$image: $!";
print $file "X";
close $file;
isnt(run_agent(), 0, "no image, no agent");
is(qx{tail -1 $dir/log}, "<3>no host on the disk: Bad message\n", "and the log says why");

done_testing;
