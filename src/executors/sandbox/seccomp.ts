import { inspectedCalls, refusedCalls } from './system-calls.ts';

/**
 * Builds the system call filter of every program in a sandbox, as a program for the kernel's classic BPF machine. The filter
 * sees a call's number, architecture and arguments. A refused call fails with EPERM. `clone3` fails with ENOSYS, because a
 * filter cannot read its flags in memory; the C library then falls back to `clone`, whose flags are an argument.
 */

export type Architecture = 'x64' | 'arm64';

const auditArchitecture: Record<Architecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** Marks calls of the x32 ABI, a second table of the same calls on x64. */
const x32Bit = 0x4000_0000;

const killProcess = 0x8000_0000;
const allow = 0x7fff_0000;
const failWith = (errno: number) => 0x0005_0000 | errno;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/** Offsets in `struct seccomp_data`. Arguments have 64 bits each, with the low half first on both architectures. */
const offsetOfNumber = 0;
const offsetOfArchitecture = 4;
const offsetOfArgument = (index: number) => 16 + index * 8;

const load = 0x20;
const jumpIfEqual = 0x15;
const jumpIfGreaterOrEqual = 0x35;
const jumpIfAnyBit = 0x45;
const answer = 0x06;

/** The CLONE_NEW… flags: namespaces of time, mount, cgroup, UTS, IPC, user, PID and network. */
const namespaceFlags = 0x7e02_0080;
/** AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK. Every other family reaches past the network namespace or needs a driver. */
const allowedFamilies = [1, 2, 10, 16];
/** TIOCSTI and TIOCLINUX, which insert characters into a terminal's input or paste into a console. */
const terminalInjections = [0x5412, 0x541c];
/** PR_SET_PDEATHSIG: a process must not undo the setting that ends it with its parent. */
const refusedProcessControls = [1];
/** Reading the personality, and setting the default one. */
const allowedPersonalities = [0xffff_ffff, 0];

interface Instruction {
  readonly code: number;
  readonly ifTrue?: number;
  readonly ifFalse?: number;
  readonly value: number;
}

/** MAP_SHARED, which MAP_SHARED_VALIDATE contains, and MAP_ANONYMOUS. */
const sharedFlag = 0x01;
const anonymousFlag = 0x20;

/**
 * Returns the filter as bubblewrap's `--seccomp` reads it: an array of `struct sock_filter`.
 * @param countsSharedMemory whether a control group counts shared memory that no process maps at the moment. If none does, the filter
 * refuses such memory.
 */
export function buildSeccompFilter(architecture: Architecture, countsSharedMemory: boolean): Buffer {
  const number = (name: keyof typeof inspectedCalls) => inspectedCalls[name][architecture];
  const instructions: Instruction[] = [
    { code: load, value: offsetOfArchitecture },
    { code: jumpIfEqual, value: auditArchitecture[architecture], ifTrue: 1 },
    { code: answer, value: killProcess },
    { code: load, value: offsetOfNumber },
    ...(architecture === 'x64' ? refuseFrom(x32Bit) : []),
    ...refusedCalls.flatMap((refused) => refuseCall(refused[architecture])),
    ...unlessCall(number('clone3'), [{ code: answer, value: failWith(ENOSYS) }]),
    ...unlessCall(number('clone'), [
      { code: load, value: offsetOfArgument(0) },
      { code: jumpIfAnyBit, value: namespaceFlags, ifFalse: 1 },
      { code: answer, value: failWith(EPERM) },
      { code: answer, value: allow },
    ]),
    ...['socket' as const, 'socketpair' as const].flatMap((name) =>
      unlessCall(number(name), allowOnly(0, allowedFamilies, EAFNOSUPPORT)),
    ),
    ...unlessCall(number('personality'), allowOnly(0, allowedPersonalities, EPERM)),
    ...unlessCall(number('ioctl'), refuseAmong(1, terminalInjections)),
    ...unlessCall(number('prctl'), refuseAmong(0, refusedProcessControls)),
    ...(countsSharedMemory ? [] : unlessCall(number('mmap'), refuseSharedAnonymous)),
    { code: answer, value: allow },
  ];
  return Buffer.concat(instructions.map(encode));
}

/** Pages that a process gives back with `madvise` stay in shared memory, and are in no process's figure. */
const refuseSharedAnonymous: readonly Instruction[] = [
  { code: load, value: offsetOfArgument(3) },
  { code: jumpIfAnyBit, value: sharedFlag, ifFalse: 2 },
  { code: jumpIfAnyBit, value: anonymousFlag, ifFalse: 1 },
  { code: answer, value: failWith(EPERM) },
  { code: answer, value: allow },
];

function refuseFrom(value: number): Instruction[] {
  return [
    { code: jumpIfGreaterOrEqual, value, ifFalse: 1 },
    { code: answer, value: failWith(EPERM) },
  ];
}

function refuseCall(number: number | null): Instruction[] {
  return number === null ? [] : unlessCall(number, [{ code: answer, value: failWith(EPERM) }]);
}

/** Runs `body` for one call. The number stays loaded after it, because each body returns. */
function unlessCall(number: number, body: readonly Instruction[]): Instruction[] {
  return [{ code: jumpIfEqual, value: number, ifFalse: body.length }, ...body];
}

function allowOnly(argument: number, values: readonly number[], errno: number): Instruction[] {
  return [
    { code: load, value: offsetOfArgument(argument) },
    ...values.flatMap((value) => [
      { code: jumpIfEqual, value, ifFalse: 1 },
      { code: answer, value: allow },
    ]),
    { code: answer, value: failWith(errno) },
  ];
}

function refuseAmong(argument: number, values: readonly number[]): Instruction[] {
  return [
    { code: load, value: offsetOfArgument(argument) },
    ...values.flatMap((value) => [
      { code: jumpIfEqual, value, ifFalse: 1 },
      { code: answer, value: failWith(EPERM) },
    ]),
    { code: answer, value: allow },
  ];
}

function encode({ code, ifTrue = 0, ifFalse = 0, value }: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value >>> 0, 4);
  return bytes;
}
