import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Program } from '#test/support/programs/start.ts';
import {
  type Composition,
  imageEnvironment,
  instruction,
  ownImage,
  readComposition,
  readDockerfile,
  root,
} from './compose.ts';

const final = readDockerfile().stages['final'] ?? [];
const healthyWithinMs = 240_000;

/** Where the processes find what containers find by the names of docker-compose.yml. */
export interface Locations {
  /** The directory of `app`, `bin` and `secrets`. */
  readonly directory: string;
  readonly databasePort: number;
  /** The ports of each service, by variable. */
  readonly ports: Record<string, Record<string, number>>;
}

/**
 * Runs the containers of docker-compose.yml as plain processes, with the same programs, arguments, variables and users, in
 * the order of `depends_on`. Each one starts after the health checks and jobs that it depends on. Only addresses, ports and
 * paths differ. PostgreSQL already runs.
 */
export class PlainInstallation {
  readonly composition: Composition = readComposition();
  readonly #locations: Locations;
  readonly #running = new Map<string, Program>();
  readonly #done = new Map<string, Promise<void>>();

  constructor(locations: Locations) {
    this.#locations = locations;
  }

  /** Starts a service after its dependencies. Resolves when it is healthy or, if it is a job, when it has succeeded. */
  up(name: string): Promise<void> {
    const known = this.#done.get(name) ?? this.#start(name);
    this.#done.set(name, known);
    return known;
  }

  /** Runs another command with the user and variables of a service, as `docker compose exec` or `run` does. */
  run(name: string, command: string[], input = ''): { status: number | null; output: string } {
    const [file = '', ...given] = command;
    const { cwd, env, uid, gid } = this.#processOptions(name);
    const result = spawnSync(file, given, { cwd, env, uid, gid, input, encoding: 'utf8' });
    return { status: result.status, output: result.stdout + result.stderr };
  }

  /** The command line of a container: its entry point, or that of its image, and its command. */
  commandOf(name: string): string[] {
    const service = this.#service(name);
    const entrypoint = service.entrypoint ?? JSON.parse(instruction(final, 'ENTRYPOINT'));
    return [...entrypoint, ...(service.command ?? [])].map((part) => this.#locate(name, part));
  }

  /** Stops the services with SIGTERM, the last one first, as a container engine does. @returns the exit code or signal of each */
  async down(): Promise<Record<string, number | string | null>> {
    const ends: Record<string, number | string | null> = {};
    for (const [name, program] of [...this.#running].reverse()) ends[name] = await program.stop();
    return ends;
  }

  outputOf(name: string): string {
    return this.#running.get(name)?.output ?? '';
  }

  async #start(name: string): Promise<void> {
    if (name === 'postgres') return;
    const service = this.#service(name);
    await Promise.all(Object.keys(service.depends_on ?? {}).map((each) => this.up(each)));
    const program = this.#spawn(name);
    if (service.healthcheck !== undefined) {
      this.#running.set(name, program);
      return this.#waitUntilHealthy(name, program);
    }
    const code = await program.ends();
    if (code !== 0) throw new Error(`The job ${name} exited with ${code}:\n${program.output}`);
  }

  #spawn(name: string): Program {
    const { cwd, env, uid, gid } = this.#processOptions(name);
    const [file = '', ...given] = this.commandOf(name);
    const asUser = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--'] as const;
    return new Program([...asUser, file, ...given], env, cwd);
  }

  async #waitUntilHealthy(name: string, program: Program): Promise<void> {
    for (const deadline = Date.now() + healthyWithinMs; Date.now() < deadline; await sleep(1000)) {
      if (program.hasEnded) throw new Error(`${name} ended:\n${program.output}`);
      if (await this.#isHealthy(name)) return;
    }
    throw new Error(`${name} did not become healthy:\n${program.output}`);
  }

  async #isHealthy(name: string): Promise<boolean> {
    const [, program = '', ...given] = this.#service(name).healthcheck?.test ?? [];
    // The image has BusyBox's `nc`, but this machine may not.
    if (program === 'nc') return isListening(this.#port(name, 'FRONTEND_PORT'));
    return this.run(name, [program, ...given]).status === 0;
  }

  #processOptions(name: string) {
    const service = this.#service(name);
    const [uid = 0, gid = 0] = service.user.split(':').map(Number);
    const isOwn = service.image === ownImage;
    const given = { ...(isOwn && imageEnvironment(final)), ...service.environment };
    const located = Object.entries(given).map(([key, value]) => [key, this.#locate(name, value)]);
    const ports = Object.entries(this.#locations.ports[name] ?? {}).map(([key, port]) => [key, String(port)]);
    const PATH = `${this.#locations.directory}/bin:/usr/local/bin:/usr/bin:/bin`;
    const env: NodeJS.ProcessEnv = { PATH, ...Object.fromEntries(located), ...Object.fromEntries(ports) };
    if (env['SQL_PORT'] !== undefined) env['SQL_PORT'] = String(this.#locations.databasePort);
    return { cwd: isOwn ? join(this.#locations.directory, 'app') : '/', env, uid, gid };
  }

  /** Translates a path or an address of a container to this machine. */
  #locate(name: string, text: string): string {
    const { directory } = this.#locations;
    const config = this.#service(name).configs?.find(({ target }) => target === text);
    if (config !== undefined) return this.#mount(name, this.composition.configs[config.source]?.file ?? '');
    if (text.startsWith('/run/secrets/')) return this.#mount(name, `${directory}/secrets/${basename(text)}`);
    if (text.startsWith('/var/lib/coordinator')) return this.#volume(name);
    if (text === 'postgres') return '127.0.0.1';
    return text.replace(/^temporal:7233$/, `127.0.0.1:${this.#port('temporal', 'FRONTEND_PORT')}`);
  }

  /** Copies a file so that only the user of a service can read it, as if it were mounted in the container. @returns its path */
  #mount(name: string, file: string): string {
    const [uid = 0, gid = 0] = this.#service(name).user.split(':').map(Number);
    const directory = join(this.#locations.directory, 'mounted', name);
    mkdirSync(directory, { recursive: true });
    const path = join(directory, basename(file));
    copyFileSync(file.startsWith('/') ? file : join(root, file), path);
    chmodSync(path, 0o400);
    chownSync(path, uid, gid);
    return path;
  }

  #volume(name: string): string {
    const [uid = 0, gid = 0] = this.#service(name).user.split(':').map(Number);
    const path = join(this.#locations.directory, `volume-${name}`);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chownSync(path, uid, gid);
    return path;
  }

  #service(name: string) {
    const service = this.composition.services[name];
    if (service === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
    return service;
  }

  #port(name: string, variable: string): number {
    return this.#locations.ports[name]?.[variable] ?? 0;
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
