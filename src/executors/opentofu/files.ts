import { join, normalize } from 'node:path';
import type { TemplateFiles } from '#domain/registry/files.ts';
import type { JsonValue } from '#domain/runs/model.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { sha256 } from '../attempt/artifact.ts';
import { AttemptFailure } from '../attempt/attempt-error.ts';
import { parseJson, toWorkFiles } from '../attempt/work-files.ts';
import type { HostSettings } from '../host/settings.ts';
import type { OpenTofuExecutor } from '../protocol/request.ts';
import { listBeneath, readBeneath } from '../sandbox/beneath.ts';
import { hasTerraformBlock, hasTerraformMember } from './hcl-blocks.ts';
import { isObject } from './state-document.ts';

/** What lies in the work directory of an OpenTofu attempt beside the template's files. */

/** Read after all other override files, so that this one decides. */
const backendFile = 'zzzz_coordinator_override.tf';
const backendText = 'terraform {\n  backend "http" {}\n}\n';
export const lockFile = '.terraform.lock.hcl';
export const dataDirectory = '.terraform';

const largestRecord = 1024 * 1024;
const largestModuleFile = 64 * 1024 * 1024;
const mostModuleFiles = 50_000;

export function digestSources({ files, directory = '' }: OpenTofuExecutor): string {
  return sha256(canonicalJson({ files, directory }));
}

/** The configuration with the service's own backend, as files of a job. @throws AttemptFailure */
export function layOutConfiguration(executor: OpenTofuExecutor): Map<string, Buffer> {
  refuseBackends(executor);
  const files = toWorkFiles(executor.files);
  const { directory = '' } = executor;
  const hasDirectory = [...files.keys()].some((path) => path.startsWith(join('work', directory, '/')));
  if (directory !== '' && !hasDirectory) {
    throw new AttemptFailure('files_invalid', `the template has no directory "${directory}"`);
  }
  return files.set(join('work', directory, backendFile), Buffer.from(backendText));
}

function refuseBackends({ files, directory = '' }: OpenTofuExecutor): void {
  for (const [path, text] of Object.entries(topFiles(files, directory))) {
    const isJson = path.endsWith('.json');
    if (encryptsByProgram(path, text)) {
      const message = `${path} encrypts by an external program: choose a key provider of OpenTofu's own, since such a program would run where plans are shown`;
      throw new AttemptFailure('backend_forbidden', message);
    }
    if (path === backendFile) throw new AttemptFailure('files_invalid', `the name "${path}" is kept for the service`);
    const isChosen = isJson
      ? hasTerraformMember(text, ['backend', 'cloud'])
      : hasTerraformBlock(text, ['backend', 'cloud']);
    if (isChosen) {
      const message = `${path} has a "backend" or "cloud" block: remove it, the service keeps the state itself`;
      throw new AttemptFailure('backend_forbidden', message);
    }
  }
}

/**
 * Whether a file has encryption whose keys or method come from a program of the template, which the tool would run wherever
 * it reads the configuration. Where there is encryption, the word alone is enough: labels can be written in many ways.
 */
function encryptsByProgram(path: string, text: string): boolean {
  if (!path.endsWith('.json')) return hasTerraformBlock(text, ['encryption']) && /external/.test(text);
  return hasTerraformMember(text, ['encryption']) && /external/.test(JSON.stringify(JSON.parse(text)));
}

/** Configuration files right in the root module, by name. */
function topFiles(files: TemplateFiles, directory: string): Record<string, string> {
  const place = normalize(directory === '' ? '.' : directory).replace(/\/$/, '');
  const prefix = place === '.' ? '' : `${place}/`;
  const found: Record<string, string> = {};
  for (const [path, content] of Object.entries(files)) {
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : '/';
    if (name.includes('/') || !/\.(tf|tofu)(\.json)?$/.test(name)) continue;
    found[name] = typeof content === 'string' ? content : Buffer.from(content.base64, 'base64').toString();
  }
  return found;
}

/** Asks the tool's own record which backend it took. @throws AttemptFailure `backend_forbidden` */
export async function verifyBackend(data: string): Promise<void> {
  const record = await readBeneath(data, 'terraform.tfstate', largestRecord).catch(() => null);
  if (record !== null && isServiceBackend(parseRecord(record))) return;
  const message = 'the configuration leads to a backend other than the one of the service: remove it';
  throw new AttemptFailure('backend_forbidden', message);
}

function parseRecord(content: Buffer): JsonValue {
  try {
    return parseJson(content) as JsonValue;
  } catch {
    // What cannot be read is not the record of the service's backend.
    return null;
  }
}

/** Of type `http`, with nothing configured: everything else comes by the environment. */
function isServiceBackend(record: JsonValue): boolean {
  const backend = isObject(record) ? record['backend'] : undefined;
  if (!isObject(backend) || backend['type'] !== 'http' || !isObject(backend['config'])) return false;
  return Object.values(backend['config']).every((value) => value === null);
}

/** Digest of the modules that `init` fetched; empty where there are none. @throws AttemptFailure `init_failed` */
export async function digestModules(data: string): Promise<string> {
  try {
    const files = await listBeneath(data, 'modules', mostModuleFiles);
    const digests: Record<string, string> = {};
    for (const { path, isRegular } of files) {
      const content = isRegular ? await readBeneath(data, `modules/${path}`, largestModuleFile) : null;
      digests[path] = content === null ? 'link' : sha256(content);
    }
    return files.length === 0 ? '' : sha256(canonicalJson(digests));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AttemptFailure('init_failed', `the modules cannot be kept: ${why}`, { cause: error });
  }
}

/**
 * The tool's settings: where providers come from, as the operator says. They are written always: without them the tool would
 * also take programs among the template's files for providers. Strings of HCL are JSON's but for `${` and `%{`.
 */
export function cliSettings(settings: HostSettings, mirror: string | null): string {
  const { providerNetworkMirror: url, providersDirect } = settings;
  const text = (value: string) => JSON.stringify(value).replaceAll('${', '$${').replaceAll('%{', '%%{');
  return [
    'provider_installation {',
    ...(mirror === null ? [] : [`  filesystem_mirror {\n    path = ${text(mirror)}\n  }`]),
    ...(url === null ? [] : [`  network_mirror {\n    url = ${text(url)}\n  }`]),
    ...(providersDirect ? ['  direct {}'] : []),
    '}',
    '',
  ].join('\n');
}
