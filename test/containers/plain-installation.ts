import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Program } from '#test/support/start.ts';
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

/** Where things are that docker-compose.yml finds by a name of its networks. */
export interface JobPaths {
  /** The work directory: `app`, `bin` and `secrets` are there. */
  readonly directory: string;
  readonly databasePort: number;
  /** Each port that a container has for itself, by service and variable. */
  readonly ports: Record<string, Record<string, number>>;
}

/**
 * Runs what the containers of docker-compose.yml run, as plain processes: the same programs, arguments, variables and
 * users, in the order of `depends_on`, each after the health checks and jobs that it waits for. Only addresses, ports
 * and paths are this machine's. PostgreSQL is there already.
 */
export class PlainInstallation {
  readonly composition: Composition = readComposition();
  readonly #places: JobPaths;
  readonly #running = new Map<string, Program>();
  readonly #done = new Map<string, Promise<void>>();

  constructor(places: JobPaths) {
    this.#places = places;
  }

  /** Starts a service after all that it depends on, and resolves when it is healthy or, if it is a job, has succeeded. */
  up(name: string): Promise<void> {
    const known = this.#done.get(name) ?? this.#start(name);
    this.#done.set(name, known);
    return known;
  }

  /** Runs another command in the container of a service, as `docker compose exec` or `run` does. */
  run(name: string, command: string[], input = ''): { status: number | null; output: string } {
    const [file = '', ...given] = command;
    const { cwd, env, uid, gid } = this.#surroundings(name);
    const result = spawnSync(file, given, { cwd, env, uid, gid, input, encoding: 'utf8' });
    return { status: result.status, output: result.stdout + result.stderr };
  }

  /** What a container starts: the entry point of its image, or its own, and its command. */
  commandOf(name: string): string[] {
    const service = this.#service(name);
    const entrypoint = service.entrypoint ?? JSON.parse(instruction(final, 'ENTRYPOINT'));
    return [...entrypoint, ...(service.command ?? [])].map((part) => this.#locate(name, part));
  }

  /** Stops services as an engine does, with SIGTERM, the last one first. @returns what each ended with */
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
      return this.#untilHealthy(name, program);
    }
    const code = await program.ends();
    if (code !== 0) throw new Error(`The job ${name} ended with ${code}:\n${program.output}`);
  }

  #spawn(name: string): Program {
    const { cwd, env, uid, gid } = this.#surroundings(name);
    const [file = '', ...given] = this.commandOf(name);
    const asUser = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', '--'] as const;
    return new Program([...asUser, file, ...given], env, cwd);
  }

  async #untilHealthy(name: string, program: Program): Promise<void> {
    for (const deadline = Date.now() + healthyWithinMs; Date.now() < deadline; await sleep(1000)) {
      if (program.hasEnded) throw new Error(`${name} ended:\n${program.output}`);
      if (await this.#isHealthy(name)) return;
    }
    throw new Error(`${name} did not become healthy:\n${program.output}`);
  }

  async #isHealthy(name: string): Promise<boolean> {
    const [, program = '', ...given] = this.#service(name).healthcheck?.test ?? [];
    // The image has the `nc` of BusyBox, this machine perhaps none.
    if (program === 'nc') return isListening(this.#port(name, 'FRONTEND_PORT'));
    return this.run(name, [program, ...given]).status === 0;
  }

  #surroundings(name: string) {
    const service = this.#service(name);
    const [uid = 0, gid = 0] = service.user.split(':').map(Number);
    const isOwn = service.image === ownImage;
    const given = { ...(isOwn && imageEnvironment(final)), ...service.environment };
    const located = Object.entries(given).map(([key, value]) => [key, this.#locate(name, value)]);
    const ports = Object.entries(this.#places.ports[name] ?? {}).map(([key, port]) => [key, String(port)]);
    const PATH = `${this.#places.directory}/bin:/usr/local/bin:/usr/bin:/bin`;
    const env: NodeJS.ProcessEnv = { PATH, ...Object.fromEntries(located), ...Object.fromEntries(ports) };
    if (env['SQL_PORT'] !== undefined) env['SQL_PORT'] = String(this.#places.databasePort);
    return { cwd: isOwn ? join(this.#places.directory, 'app') : '/', env, uid, gid };
  }

  /** A path or an address of a container as it is here. */
  #locate(name: string, text: string): string {
    const { directory } = this.#places;
    const config = this.#service(name).configs?.find(({ target }) => target === text);
    if (config !== undefined) return this.#provide(name, this.composition.configs[config.source]?.file ?? '');
    if (text.startsWith('/run/secrets/')) return this.#provide(name, `${directory}/secrets/${basename(text)}`);
    if (text.startsWith('/var/lib/coordinator')) return this.#volume(name);
    if (text === 'postgres') return '127.0.0.1';
    return text.replace(/^temporal:7233$/, `127.0.0.1:${this.#port('temporal', 'FRONTEND_PORT')}`);
  }

  /** A copy of a file that the user of a service, and nobody else, can read: as if it were mounted. */
  #provide(name: string, file: string): string {
    const [uid = 0, gid = 0] = this.#service(name).user.split(':').map(Number);
    const directory = join(this.#places.directory, 'mounted', name);
    mkdirSync(directory, { recursive: true });
    const path = join(directory, basename(file));
    copyFileSync(file.startsWith('/') ? file : join(root, file), path);
    chmodSync(path, 0o400);
    chownSync(path, uid, gid);
    return path;
  }

  #volume(name: string): string {
    const [uid = 0, gid = 0] = this.#service(name).user.split(':').map(Number);
    const path = join(this.#places.directory, `volume-${name}`);
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
    return this.#places.ports[name]?.[variable] ?? 0;
  }
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
