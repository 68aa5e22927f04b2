import { existsSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { settings } from '#config';
import { temporalVersion } from '../../bench/installation/temporal-cluster.ts';
import { secretSettings } from '../../src/config/secret-files.ts';
import { codeBlocks } from '../docs/markdown.ts';
import { imageEnvironment, instruction, ownImage, readComposition, readDockerfile, readText, root } from './compose.ts';

const composition = readComposition();
const services = Object.entries(composition.services);
const own = services.filter(([, { image }]) => image === ownImage);
const image = readDockerfile();
const final = image.stages['final'] ?? [];

describe('docker-compose.yml', () => {
  it('matches the published schema of compose files', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajvFormats.default(ajv);
    const validate = ajv.compile(JSON.parse(readText('test/containers/compose-spec.json')));
    validate(parse(readText('docker-compose.yml'), { merge: true }));
    expect(validate.errors).toBeNull();
    expect(validate({ services: { api: { imaeg: 'x' } } })).toBe(false);
  });

  it('has a database, Temporal with its schema job, the migration, two APIs and two workers', () => {
    expect(services.map(([name]) => name)).toEqual([
      'postgres',
      'temporal-schema',
      'temporal',
      'temporal-namespace',
      'migrate',
      'api-1',
      'api-2',
      'worker-1',
      'worker-2',
    ]);
    expect(own.map(([, { command }]) => command)).toEqual([['migrate'], ['api'], ['api'], ['worker'], ['worker']]);
  });

  it.each(services)(
    'lets %s write only to volumes and temporary file systems, and gain no privileges',
    (_name, service) => {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
      expect(service.security_opt).toContain('no-new-privileges:true');
      expect(service.cap_add ?? []).toEqual([]);
      expect(service.privileged ?? false).toBe(false);
      expect(service.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
      expect((service.volumes ?? []).filter((volume) => volume.startsWith('/') || volume.startsWith('.'))).toEqual([]);
    },
  );

  it.each(services)(
    'gives %s the privileges that bubblewrap needs only if it is a worker',
    (name, { security_opt }) => {
      const needed = ['seccomp=./deploy/worker-seccomp.json', 'apparmor=unconfined', 'systempaths=unconfined'];
      const more = security_opt.filter((option) => option !== 'no-new-privileges:true');
      expect(more).toEqual(name.startsWith('worker-') ? needed : []);
    },
  );

  it('pins every image to a version, and both Temporal images to the tested version', () => {
    for (const [, { image: name }] of services) expect(name).toMatch(/:(\d+\.\d+(\.\d+)?(-\w+)?|local)$/);
    const ofTemporal = services.filter(([, { image: name }]) => name.startsWith('temporalio/'));
    expect(new Set(ofTemporal.map(([, { image: name }]) => name.split(':')[1]))).toEqual(new Set([temporalVersion]));
  });

  it('refers only to files, secrets, configurations, volumes and networks that exist', () => {
    const options = services.flatMap(([, { security_opt }]) => security_opt);
    const profiles = options
      .filter((option) => option.startsWith('seccomp='))
      .map((option) => option.split('=')[1] ?? '');
    const files = [...Object.values(composition.configs).map(({ file }) => file), ...profiles];
    expect(files.filter((file) => !existsSync(`${root}/${file}`))).toEqual([]);
    for (const [, service] of services) {
      expect(Object.keys(composition.secrets)).toEqual(expect.arrayContaining(service.secrets ?? []));
      expect(Object.keys(composition.configs)).toEqual(
        expect.arrayContaining((service.configs ?? []).map(({ source }) => source)),
      );
      expect(Object.keys(composition.networks)).toEqual(expect.arrayContaining(service.networks));
      const volumes = (service.volumes ?? []).map((volume) => volume.split(':')[0]);
      expect(Object.keys(composition.volumes)).toEqual(expect.arrayContaining(volumes));
      expect(Object.keys(composition.services)).toEqual(expect.arrayContaining(Object.keys(service.depends_on ?? {})));
    }
  });

  it.each(services)('provides the secrets of %s as files and not in variables', (_name, service) => {
    const variables = Object.entries(service.environment ?? {});
    const fromFiles = variables.filter(([name]) => name.endsWith('_FILE')).map(([, path]) => path);
    const mounted = (service.secrets ?? []).map((secret) => `/run/secrets/${secret}`);
    expect(mounted).toEqual(expect.arrayContaining(fromFiles));
    expect(
      variables.filter(([name]) => /(PASSWORD|TOKEN|KEYS?|URL)$/.test(name) && name !== 'COORDINATOR_BASE_URL'),
    ).toEqual([]);
  });

  it.each(services)('starts %s after the health checks and jobs of its dependencies', (_name, service) => {
    for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
      const hasCheck = composition.services[name]?.healthcheck !== undefined;
      expect([name, condition]).toEqual([name, hasCheck ? 'service_healthy' : 'service_completed_successfully']);
    }
  });

  it('keeps the database and Temporal on the internal network, and publishes the APIs only on loopback', () => {
    expect(composition.networks['inside']).toEqual({ internal: true });
    const outside = services.filter(([, { networks }]) => networks.includes('outside')).map(([name]) => name);
    expect(outside).toEqual(['api-1', 'api-2', 'worker-1', 'worker-2']);
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`));
    expect(published).toEqual(['api-1 127.0.0.1:8080:8080', 'api-2 127.0.0.1:8081:8080']);
  });

  it('gives each worker its own volume for the data directory of the image', () => {
    const { COORDINATOR_DATA_DIR } = imageEnvironment(final);
    const volumes = ['worker-1', 'worker-2'].map((name) => composition.services[name]?.volumes);
    expect(volumes).toEqual([[`worker-1:${COORDINATOR_DATA_DIR}`], [`worker-2:${COORDINATOR_DATA_DIR}`]]);
  });
});

describe('a service that runs our image', () => {
  it.each(own)('%s gets only variables that are settings', (_name, { environment = {} }) => {
    const known = [...Object.keys(settings), ...secretSettings.map((name) => `${name}_FILE`)];
    expect(known).toEqual(expect.arrayContaining(Object.keys(environment)));
  });

  it.each(own)(
    '%s runs as the user of the image, and passes only build arguments that the image declares',
    (_name, service) => {
      expect(service.user).toBe(instruction(final, 'USER'));
      const taken = (image.stages['opentofu'] ?? []).filter(({ name }) => name === 'ARG').map(({ text }) => text);
      expect(taken).toEqual(expect.arrayContaining(Object.keys(service.build?.args ?? {})));
    },
  );

  it.each(own.filter(([, { healthcheck }]) => healthcheck))(
    '%s checks its health by the healthcheck command',
    (_name, service) => {
      expect(service.healthcheck?.test).toEqual([
        'CMD',
        'node',
        'src/main.ts',
        'healthcheck',
        ...(service.command ?? []),
      ]);
    },
  );
});

describe('the seccomp profile of workers', () => {
  it('allows the default system calls and the five calls that bubblewrap needs', () => {
    const { defaultAction, syscalls } = JSON.parse(readText('deploy/worker-seccomp.json'));
    expect(defaultAction).toBe('SCMP_ACT_ERRNO');
    expect(syscalls[1].names).toEqual(['clone', 'unshare', 'mount', 'umount2', 'pivot_root']);
    const refused = [
      'ptrace',
      'setns',
      'bpf',
      'keyctl',
      'perf_event_open',
      'userfaultfd',
      'io_uring_setup',
      'process_vm_readv',
    ];
    expect(refused.filter((name) => syscalls[0].names.includes(name))).toEqual([]);
  });
});

describe('the documented commands for a container engine', () => {
  const [text = ''] = codeBlocks('docs/operating.md')
    .filter(({ info }) => info === 'sh engine')
    .map((block) => block.text);

  it('use the OpenTofu release of the image, and set the variable that the build requires', () => {
    const versions = (image.stages['opentofu'] ?? []).filter(({ text: given }) =>
      given.startsWith('OPENTOFU_VERSION='),
    );
    const [version = ''] = versions.map(({ text: given }) => given.split('=')[1]);
    expect(new Set(text.match(/\d+\.\d+\.\d+/g))).toEqual(new Set([version]));
    expect(readText('docker-compose.yml')).toContain(`\${${/"(OPENTOFU_\w+)=/.exec(text)?.[1]}:-}`);
  });

  it('build and run services that exist', () => {
    const named = [...text.matchAll(/docker compose (?:build|run(?: -\S+)*) (\S+)/g)].map(([, name]) => name);
    expect(named).toEqual(['api-1', 'api-1']);
    expect(Object.keys(composition.services)).toEqual(expect.arrayContaining(named));
  });
});
