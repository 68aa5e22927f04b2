import { describe, expect, it } from 'vitest';
import { type Architecture, buildSeccompFilter } from '#executors/sandbox/seccomp.ts';
import { inspectedCalls, refusedCalls } from '#executors/sandbox/system-calls.ts';

interface Call {
  readonly number: number;
  readonly given?: readonly number[];
  readonly architecture?: number;
}

const native: Record<Architecture, number> = { x64: 0xc000003e, arm64: 0xc00000b7 };
const allowed = 'allowed';

/** Runs the filter's program as the kernel would. */
function judge(
  machine: Architecture,
  { number, given = [], architecture = native[machine] }: Call,
  countsSharedMemory = false,
): string {
  const program = buildSeccompFilter(machine, countsSharedMemory);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(architecture >>> 0, 4);
  for (const [index, value] of given.entries())
    data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + index * 8);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const code = program.readUInt16LE(at * 8);
    const [ifTrue, ifFalse] = [program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3)];
    const value = program.readUInt32LE(at * 8 + 4);
    const jump = (holds: boolean) => {
      at += holds ? ifTrue : ifFalse;
    };
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (code === 0x15) jump(accumulator === value);
    else if (code === 0x35) jump(accumulator >= value);
    else if (code === 0x45) jump((accumulator & value) !== 0);
    else if (code === 0x06) return describeAnswer(value);
    else throw new Error(`unknown instruction ${code}`);
  }
  throw new Error('the program ran past its end');
}

function describeAnswer(value: number): string {
  if (value === 0x7fff0000) return allowed;
  if (value === 0x80000000) return 'killed';
  return (value & 0xffff0000) >>> 0 === 0x00050000 ? `error ${value & 0xffff}` : `unknown answer ${value}`;
}

/** Calls that ordinary programs need, copied by hand from the kernel's tables. */
const needed: Record<Architecture, readonly number[]> = {
  // read, write, open, mmap, execve, fork, vfork, wait4, kill, futex, openat, pipe2, epoll_wait, getrandom, faccessat2
  x64: [0, 1, 2, 9, 59, 57, 58, 61, 62, 202, 257, 293, 232, 318, 439],
  arm64: [63, 64, 56, 222, 221, 260, 129, 98, 59, 22, 278, 439],
};
/** Copied by hand too: ptrace, mount, unshare, setns, bpf, keyctl, perf_event_open, userfaultfd, io_uring_setup, init_module. */
const dangerous: Record<Architecture, readonly number[]> = {
  x64: [101, 165, 272, 308, 321, 250, 298, 323, 425, 175, 310, 155, 169],
  arm64: [117, 40, 97, 268, 280, 219, 241, 282, 425, 105, 270, 41, 142],
};
const machines: Architecture[] = ['x64', 'arm64'];

describe.each(machines)('the system call filter on %s', (machine) => {
  const numberOf = (name: keyof typeof inspectedCalls) => inspectedCalls[name][machine];

  it('allows calls that every program needs', () => {
    for (const number of needed[machine]) expect([number, judge(machine, { number })]).toEqual([number, allowed]);
  });

  it('refuses calls that exploits begin with', () => {
    const numbers = refusedCalls.map((refused) => refused[machine]).filter((number) => number !== null);
    for (const number of [...dangerous[machine], ...numbers]) {
      expect([number, judge(machine, { number })]).toEqual([number, 'error 1']);
    }
  });

  it('lists each number once', () => {
    const numbers = refusedCalls.map((refused) => refused[machine]).filter((number) => number !== null);
    const inspected = Object.values(inspectedCalls).map((each) => each[machine]);
    expect(new Set([...numbers, ...inspected]).size).toBe(numbers.length + inspected.length);
  });

  it('kills a program that uses the call table of another architecture', () => {
    const architecture = native[machine === 'x64' ? 'arm64' : 'x64'];
    expect(judge(machine, { number: 0, architecture })).toBe('killed');
    // The 32-bit tables of Intel and ARM.
    for (const old of [0x40000003, 0x40000028]) expect(judge(machine, { number: 0, architecture: old })).toBe('killed');
  });

  it('allows clone for threads and processes, but not for any kind of namespace', () => {
    const thread = 0x003d0f00;
    for (const flags of [17, thread])
      expect(judge(machine, { number: numberOf('clone'), given: [flags] })).toBe(allowed);
    const namespaces = [0x80, 0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000];
    for (const flag of namespaces) {
      expect([flag, judge(machine, { number: numberOf('clone'), given: [flag | 17] })]).toEqual([flag, 'error 1']);
    }
    expect(judge(machine, { number: numberOf('clone3') })).toBe('error 38');
  });

  it.each(['socket', 'socketpair'] as const)('allows %s for unix, IP and netlink, but for no other family', (name) => {
    for (let family = 0; family < 64; family++) {
      const expected = [1, 2, 10, 16].includes(family) ? allowed : 'error 97';
      expect([family, judge(machine, { number: numberOf(name), given: [family] })]).toEqual([family, expected]);
    }
  });

  it('refuses terminal injection, even if the upper half of the argument is set', () => {
    for (const request of [0x5412, 0x541c, 2 ** 32 + 0x5412]) {
      expect(judge(machine, { number: numberOf('ioctl'), given: [0, request] })).toBe('error 1');
    }
    expect(judge(machine, { number: numberOf('ioctl'), given: [0, 0x5401] })).toBe(allowed);
  });

  it('refuses anonymous memory that processes share, unless a control group counts it', () => {
    const map = (flags: number, counts: boolean) =>
      judge(machine, { number: numberOf('mmap'), given: [0, 4096, 3, flags, -1, 0] }, counts);
    // MAP_SHARED and MAP_SHARED_VALIDATE with MAP_ANONYMOUS, and with MAP_NORESERVE and MAP_POPULATE.
    for (const flags of [0x21, 0x23, 0xc021])
      expect([map(flags, false), map(flags, true)]).toEqual(['error 1', allowed]);
    // Private memory, a shared file, and a private file.
    for (const flags of [0x22, 0x4022, 0x01, 0x02]) expect(map(flags, false)).toBe(allowed);
  });

  it('allows only the default personality', () => {
    for (const asked of [0, 0xffffffff]) {
      expect(judge(machine, { number: numberOf('personality'), given: [asked] })).toBe(allowed);
    }
    expect(judge(machine, { number: numberOf('personality'), given: [0x0040000] })).toBe('error 1');
  });
});

it('refuses the calls of the x32 table on x64, which would bypass all other rules', () => {
  for (const number of [0, 101, 165, 512, 0x3fff_ffff]) {
    expect(judge('x64', { number: number + 0x4000_0000 })).toBe('error 1');
  }
});
