import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Executor } from '#executors/client/executor.ts';
import { sealPackage } from '#executors/opentofu/providers/package-hash.ts';
import type { ExecutionRequest, Tool } from '#executors/protocol/request.ts';
import { makeCertificate } from '#test/support/programs/certificate.ts';
import { archiveName, type NetworkMirror, serveNetworkMirror } from '#test/support/programs/network-mirror.ts';
import { makeRequest, RecordingSink } from '../support.ts';

/** Connects to 127.0.0.1, but the tools ask the proxy of their sandbox for it. */
const address = '0.0.0.0';
export const time = { name: 'time', version: '0.14.2' } as const;
export const local = { name: 'local', version: '1.4.0' } as const;
export const files = {
  'main.tf': `
terraform {
  required_providers {
    time  = { source = "mirror.test/hashicorp/time" }
    local = { source = "mirror.test/hashicorp/local" }
  }
}
resource "time_static" "now" {}
resource "local_file" "note" {
  filename = "\${path.root}/note.txt"
  content  = "written at \${time_static.now.year}"
}
`,
};
/** The requests that fetch the archives of both providers. */
export const both = [local, time].map((each) => `GET /mirror.test/hashicorp/${each.name}/${archiveName(each)}`);

let versions = 0;
export const newVersion = () => `stored-${process.pid}-${++versions}`;

/** A network mirror of two real providers, and an executor that has no other source. */
export class MirrorStage {
  readonly #directory = mkdtempSync(join(tmpdir(), 'coordinator-test-store-'));
  readonly #honest = new Map<string, Buffer>();
  readonly #tool: Tool;
  #certificate = '';
  #mirror: NetworkMirror | null = null;
  #executor: Executor | null = null;

  constructor({ name, version }: Tool) {
    this.#tool = { name, version };
  }

  get mirror(): NetworkMirror {
    if (this.#mirror === null) throw new Error('the stage is not open');
    return this.#mirror;
  }

  get executor(): Executor {
    if (this.#executor === null) throw new Error('the stage is not open');
    return this.#executor;
  }

  /** The directory of the executor's host. */
  get work(): string {
    return join(this.#directory, 'work');
  }

  /** The directory of the store. */
  get store(): string {
    return join(this.work, 'providers');
  }

  /** The files that each run gets. */
  get environmentFiles() {
    return [{ name: 'SSL_CERT_FILE', text: this.#certificate }];
  }

  async open(): Promise<void> {
    chmodSync(this.#directory, 0o755);
    const made = makeCertificate(this.#directory, address);
    this.#certificate = readFileSync(made.cert, 'utf8');
    this.#mirror = await serveNetworkMirror(made, address, [time, local]);
    for (const [name, archive] of this.#mirror.archives) this.#honest.set(name, archive);
    this.#executor = await this.#start();
  }

  /** Lets the mirror answer as it does at first. */
  restore(): void {
    for (const [name, archive] of this.#honest) this.mirror.archives.set(name, archive);
    this.mirror.isDown = false;
    this.mirror.requests.length = 0;
  }

  async close(): Promise<void> {
    await this.#executor?.close();
    await this.#mirror?.close();
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Removes what the executor keeps, as on a new worker. */
  async forget(): Promise<void> {
    await this.executor.close();
    rmSync(this.work, { recursive: true, force: true });
    this.#executor = await this.#start();
  }

  async execute(changes: Partial<ExecutionRequest>) {
    const sink = new RecordingSink();
    const { workRoot: _, ...request } = makeRequest({
      executor: { kind: 'opentofu', files },
      workRoot: '',
      phase: 'plan',
      timeoutMs: 120_000,
      tool: this.#tool,
      egress: { policy: 'allow', allow: [address] },
      environmentFiles: this.environmentFiles,
      ...changes,
    });
    const result = await this.executor.execute(request, sink, new AbortController().signal);
    return { sink, result };
  }

  /** Plans a new version as on a worker that has nothing yet, and returns what the version then keeps. */
  async resolve() {
    const templateVersion = newVersion();
    const { result, sink } = await this.execute({ templateVersion });
    expect(result, sink.text()).toMatchObject({ outcome: 'succeeded' });
    await this.forget();
    this.mirror.requests.length = 0;
    return { templateVersion, modules: result.modules };
  }

  /** The requests that fetched archives. */
  fetched(): string[] {
    return this.mirror.requests.filter((request) => /^GET .*\.zip$/.test(request)).sort();
  }

  /** Whether the host has the draft of an entry of the store at this moment. */
  isAdding(): boolean {
    const hosts = readdirSync(this.work).filter((name) => name.startsWith('host-'));
    return hosts.some((host) => readdirSync(join(this.work, host)).some((name) => name.startsWith('provider-')));
  }

  /** Checks that every package in the store is complete. */
  async expectWhole(): Promise<void> {
    for (const key of readdirSync(this.store)) {
      const { hash } = JSON.parse(readFileSync(join(this.store, key, 'facts.json'), 'utf8'));
      expect((await sealPackage(join(this.store, key, 'package'))).hash).toBe(hash);
    }
  }

  #start(): Promise<Executor> {
    return Executor.start({
      directory: this.work,
      isolation: 'sandbox',
      user: null,
      cores: 2,
      addedPaths: [],
      hiddenPaths: [],
      deniedAddresses: [],
      toolsDirectory: null,
      providerMirror: null,
      providerNetworkMirror: this.mirror.url,
      providersDirect: false,
    });
  }
}
