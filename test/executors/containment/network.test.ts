import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EgressPolicy } from '#executors/protocol/request.ts';
import { RecordingSink } from '../support.ts';
import { isRoot, WorkerProcess, workerUsers } from '../worker/worker-process.ts';
import { describeProbes, type Probe } from './probes.ts';

/** Servers of the machine, which send this text to every client. */
const banner = 'banner-of-the-machine';
const servers: Server[] = [];
const directory = mkdtempSync(join(tmpdir(), 'coordinator-test-sockets-'));
chmodSync(directory, 0o755);
let port = 0;
const socketFiles: string[] = [];

/** An address of this machine other than its loopback; null if it has none. */
const ownAddress =
  Object.values(networkInterfaces())
    .flat()
    .find((address) => address && !address.internal && address.family === 'IPv4')?.address ?? null;

function serve(listen: (server: Server, ready: () => void) => void): Promise<Server> {
  const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${banner.length}\r\nConnection: close\r\n\r\n${banner}`;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(answer);
  });
  servers.push(server);
  return new Promise((resolve) => listen(server, () => resolve(server)));
}

beforeAll(async () => {
  const server = await serve((each, ready) => each.listen(0, '0.0.0.0', ready));
  const address = server.address();
  port = typeof address === 'object' && address ? address.port : 0;
  await serve((each, ready) => each.listen(port, '::1', ready));
  for (const path of [directory, ...(isRoot ? ['/run', '/var/run'] : []), '/tmp', '/var/tmp']) {
    const file = join(path, `coordinator-test-${process.pid}.sock`);
    if (socketFiles.includes(file.replace('/var/run', '/run'))) continue;
    await serve((each, ready) => each.listen({ path: file, readableAll: true, writableAll: true }, ready));
    socketFiles.push(file);
  }
  await serve((each, ready) => each.listen(`\0coordinator-test-${process.pid}`, ready));
});
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(directory, { recursive: true });
});

const works = new RegExp(banner);
/** Reads what the server sends first. */
const read = 'print while <$s>';

/** Connects and prints what the server sends. */
function connect(address: string): string {
  return `perl -MSocket=:all -e 'my ($error, @found) = getaddrinfo("${address}", ${port}, { socktype => SOCK_STREAM }); die $error if $error; socket(my $s, $found[0]{family}, SOCK_STREAM, 0) or die $!; connect($s, $found[0]{addr}) or die $!; ${read}'`;
}

function connectToPath(path: string): string {
  return `perl -MSocket -e 'socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die $!; connect($s, pack("S a*", 1, "${path}")) or die $!; ${read}'`;
}

const listeners = ['127.0.0.1', '::1', 'localhost', '0.0.0.0', ...(ownAddress ? [ownAddress] : [])];

function socketProbes(): Probe[] {
  return [
    ...listeners.map((address) => ({
      name: `connect to a server of the machine at ${address === ownAddress ? 'its own address' : address}`,
      script: connect(address),
      works,
    })),
    ...socketFiles.map((path) => ({
      name: `connect to the socket ${path.replace(String(process.pid), 'N').replace(directory, '<temporary>')}`,
      script: connectToPath(path),
      works,
    })),
    {
      name: 'connect to an abstract socket of the machine',
      script: connectToPath(`\\0coordinator-test-${process.pid}`),
      works,
    },
    {
      name: "see the machine's sockets",
      // All sockets of a busy machine would exceed the limit of the output.
      script: 'grep coordinator-test /proc/net/unix',
      works: new RegExp(`@coordinator-test-${process.pid}`),
    },
    {
      name: "see the machine's network interfaces",
      script: 'cat /proc/net/dev | grep -v -E "lo:|Inter|face"',
      works: /:\s+\d+/,
    },
    {
      name: "use the machine's name servers",
      script: 'cat /etc/resolv.conf | grep nameserver; getent hosts example.com',
      works: /nameserver/,
      notOutside: 'not every machine has a name server',
    },
  ];
}

const socketNames = [
  ...['127.0.0.1', '::1', 'localhost', '0.0.0.0', ...(ownAddress ? ['its own address'] : [])].map(
    (address) => `connect to a server of the machine at ${address}`,
  ),
  ...['<temporary>', ...(isRoot ? ['/run'] : []), '/tmp', '/var/tmp'].map(
    (path) => `connect to the socket ${path}/coordinator-test-N.sock`,
  ),
  'connect to an abstract socket of the machine',
  "see the machine's sockets",
  "see the machine's network interfaces",
  "use the machine's name servers",
];
const policies: [string, EgressPolicy][] = [
  ['none', { policy: 'none', allow: [] }],
  ['internet', { policy: 'internet', allow: [] }],
];
for (const [name, egress] of policies) {
  describeProbes(`the network under the policy "${name}"`, socketNames, socketProbes, { request: { egress } });
}

/** Spellings of addresses that lead to this machine, a private network, or a cloud's metadata service. */
const forbidden = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  '0.0.0.0',
  'localhost',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::]',
  '169.254.169.254',
  '[fd00:ec2::254]',
  '10.0.0.1',
  '172.16.0.1',
  '192.168.0.1',
  '100.64.0.1',
  '[fe80::1]',
  '[::ffff:10.0.0.1]',
  ...(ownAddress ? [ownAddress] : []),
];
/** Sends one line to the proxy, and waits for its answer without closing the connection. */
const ask = (line: string) =>
  `timeout 20 perl -MSocket -e 'socket(my $s, PF_INET, SOCK_STREAM, 0); connect($s, pack_sockaddr_in(61280, INADDR_LOOPBACK)) or die "no proxy\\n"; syswrite($s, "$ARGV[0]\\r\\nHost: x\\r\\n\\r\\n"); my $answer = <$s>; print $answer // "no answer to $ARGV[0]\\n"' '${line}' 2>&1 || echo 'no answer to ${line}'`;

describe.each(workerUsers)('the proxy of a worker that runs as $as', ({ user = null }) => {
  let worker: WorkerProcess;
  beforeAll(async () => {
    worker = await WorkerProcess.start({ user });
  }, 180_000);
  afterAll(() => worker?.close());

  const answers = async (egress: EgressPolicy, lines: readonly string[]) => {
    const { sink } = await worker.runScript(`${lines.map(ask).join('\n')}\nexit 0`, { egress, timeoutMs: 120_000 });
    return sink
      .text('stdout')
      .trim()
      .split('\n')
      .map((line) => line.trim());
  };

  it.each([
    ['internet', { policy: 'internet', allow: [] }],
    ['allow', { policy: 'allow', allow: ['registry.opentofu.org', '203.0.113.0/24'] }],
  ] as [string, EgressPolicy][])(
    'the proxy under the policy "%s" forwards nothing to this machine, private networks or metadata services',
    async (_, egress) => {
      const tunnels = forbidden.map((host) => `CONNECT ${host}:${port} HTTP/1.1`);
      const requests = forbidden.map((host) => `GET http://${host}:${port}/ HTTP/1.1`);
      const given = await answers(egress, [...tunnels, ...requests]);
      expect(given).toHaveLength(forbidden.length * 2);
      for (const answer of given) expect(answer).toMatch(/^HTTP\/1\.[01] [45]\d\d /);
    },
  );

  it('forwards to a private address that the policy names, and to no other', async () => {
    const egress: EgressPolicy = { policy: 'internet', allow: ['127.0.0.1/32'] };
    const given = await answers(egress, [`CONNECT 127.0.0.1:${port} HTTP/1.1`, `CONNECT 127.0.0.2:${port} HTTP/1.1`]);
    expect(given[0]).toMatch(/^HTTP\/1\.1 200 /);
    expect(given[1]).toMatch(/^HTTP\/1\.1 [45]\d\d /);
  });

  it('does not exist under the policy "none"', async () => {
    const { sink } = await worker.runScript(
      `env | grep -i proxy; ls /run/coordinator; ${ask('GET / HTTP/1.1')}; exit 0`,
    );
    expect(sink.text('stdout')).not.toMatch(/proxy=|^relay$|^HTTP\/1/im);
  });

  it('serves no state to a command template', async () => {
    const [answer] = await answers({ policy: 'internet', allow: [] }, ['GET /state HTTP/1.1']);
    expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('serves a single attempt: another attempt cannot connect to servers of the first one', async () => {
    const [sink, stop] = [new RecordingSink(), new AbortController()];
    const reached = (address: string) => `until socat -t 1 - ${address} </dev/null; do sleep 0.05; done`;
    const serving = worker.runScript(
      `socat TCP4-LISTEN:5555,fork,reuseaddr SYSTEM:"echo hello-inside" &
       socat ABSTRACT-LISTEN:inside,fork SYSTEM:"echo hello-inside" &
       ${reached('TCP4:127.0.0.1:5555')}; ${reached('ABSTRACT-CONNECT:inside')}; echo serving; sleep 600`,
      {},
      sink,
      stop.signal,
    );
    await sink.saw('serving');
    expect(sink.text()).toContain('hello-inside');
    const other = await worker.runScript(
      'socat -t 1 - TCP4:127.0.0.1:5555 </dev/null; socat -t 1 - ABSTRACT-CONNECT:inside </dev/null; exit 0',
    );
    expect(other.sink.text('stdout')).not.toContain('hello-inside');
    stop.abort();
    await serving;
  });
});
