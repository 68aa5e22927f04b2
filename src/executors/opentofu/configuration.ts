import { join, normalize } from 'node:path';
import type { TemplateFiles } from '#domain/registry/files.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { sha256 } from '../attempt/artifact.ts';
import { toWorkFiles } from '../attempt/work-files.ts';
import type { HostSettings } from '../protocol/host-settings.ts';
import type { OpenTofuExecutor } from '../protocol/request.ts';
import { listUntrustedFiles, readUntrustedFile } from '../sandbox/untrusted-files.ts';
import { AttemptFailure } from '../shared/errors.ts';
import { isObject, parseJson } from '../shared/json.ts';
import { hasTerraformBlock, hasTerraformMember } from './hcl-blocks.ts';

/** Files of an OpenTofu work directory: the template's, and those that the service adds. */

/** Sorts after all other override files, so that its settings win. */
const backendFile = 'zzzz_coordinator_override.tf';
const backendText = 'terraform {\n  backend "http" {}\n}\n';
export const lockFile = '.terraform.lock.hcl';
export const dataDirectory = '.terraform';

const maxRecordBytes = 1024 * 1024;
const maxModuleFileBytes = 64 * 1024 * 1024;
const maxModuleFiles = 50_000;

export function digestSources({ files, directory = '' }: OpenTofuExecutor): string {
  return sha256(canonicalJson({ files, directory }));
}

/** Lays out the configuration with the service's own backend as a job's files. @throws AttemptFailure */
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
      const message = `${path} encrypts with an external program, which would also run where plans are shown: use a key provider that is built into OpenTofu`;
      throw new AttemptFailure('backend_forbidden', message);
    }
    if (path === backendFile) throw new AttemptFailure('files_invalid', `the service reserves the file name "${path}"`);
    const isChosen = isJson
      ? hasTerraformMember(text, ['backend', 'cloud'])
      : hasTerraformBlock(text, ['backend', 'cloud']);
    if (isChosen) {
      const message = `${path} has a "backend" or "cloud" block: remove it, because the service stores the state`;
      throw new AttemptFailure('backend_forbidden', message);
    }
  }
}

/**
 * Whether a file configures encryption whose keys or method come from a program of the template, which the tool would run
 * whenever it reads the configuration. The word `external` is enough, because labels can be written in many ways.
 */
function encryptsByProgram(path: string, text: string): boolean {
  if (!path.endsWith('.json')) return hasTerraformBlock(text, ['encryption']) && /external/.test(text);
  return hasTerraformMember(text, ['encryption']) && /external/.test(JSON.stringify(JSON.parse(text)));
}

/** The configuration files of the root module itself, by name. */
function topFiles(files: TemplateFiles, directory: string): Record<string, string> {
  const root = normalize(directory === '' ? '.' : directory).replace(/\/$/, '');
  const prefix = root === '.' ? '' : `${root}/`;
  const found: Record<string, string> = {};
  for (const [path, content] of Object.entries(files)) {
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : '/';
    if (name.includes('/') || !/\.(tf|tofu)(\.json)?$/.test(name)) continue;
    found[name] = typeof content === 'string' ? content : Buffer.from(content.base64, 'base64').toString();
  }
  return found;
}

/** Checks in the tool's own record that it uses the service's backend. @throws AttemptFailure `backend_forbidden` */
export async function verifyBackend(data: string): Promise<void> {
  const record = await readUntrustedFile(data, 'terraform.tfstate', maxRecordBytes).catch(() => null);
  if (record !== null && isServiceBackend(parseRecord(record))) return;
  const message = "the configuration selects a backend other than the service's: remove it";
  throw new AttemptFailure('backend_forbidden', message);
}

function parseRecord(content: Buffer): JsonValue {
  try {
    return parseJson(content);
  } catch {
    // An unreadable record is not one of the service's backend.
    return null;
  }
}

/** Whether the backend is of type `http` without settings; the service passes those in the environment. */
function isServiceBackend(record: JsonValue): boolean {
  const backend = isObject(record) ? record['backend'] : undefined;
  if (!isObject(backend) || backend['type'] !== 'http' || !isObject(backend['config'])) return false;
  return Object.values(backend['config']).every((value) => value === null);
}

/** Computes the digest of the modules that `init` fetched; empty if there are none. @throws AttemptFailure `init_failed` */
export async function digestModules(data: string): Promise<string> {
  try {
    const files = await listUntrustedFiles(data, 'modules', maxModuleFiles);
    const digests: Record<string, string> = {};
    for (const { path, isRegular } of files) {
      const content = isRegular ? await readUntrustedFile(data, `modules/${path}`, maxModuleFileBytes) : null;
      digests[path] = content === null ? 'link' : sha256(content);
    }
    return files.length === 0 ? '' : sha256(canonicalJson(digests));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AttemptFailure('init_failed', `the modules cannot be stored: ${why}`, { cause: error });
  }
}

/**
 * Writes the tool's settings, which say where providers come from. They are always written, because the tool would otherwise
 * also load providers from the template's files. HCL strings are JSON strings except for `${` and `%{`.
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
