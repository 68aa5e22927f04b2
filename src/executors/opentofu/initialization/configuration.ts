import { basename, dirname, join } from 'node:path';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { bytesOf } from '#domain/sources/files.ts';
import { readFile } from '#domain/sources/hcl/blocks.ts';
import {
  type ConfigurationFile,
  compareNames,
  configurationFiles,
  isOverride,
  withDifferentTexts,
} from '#domain/sources/hcl/root-files.ts';
import { readDirectory } from '#domain/sources/links.ts';
import type { ToolName } from '#domain/tools/model.ts';
import { sha256 } from '../../attempt/artifact.ts';
import { isJobLink, type JobFile, jobFileBytes, toWorkFiles } from '../../attempt/work-files.ts';
import type { HostSettings } from '../../protocol/host-settings.ts';
import type { OpenTofuExecutor } from '../../protocol/request.ts';
import { listUntrustedFiles, readUntrustedFile, readUntrustedLink } from '../../sandbox/untrusted-files.ts';
import { AttemptFailure } from '../../shared/errors.ts';
import { isObject, parseJson } from '../../shared/json.ts';
import { requireConfiguration } from './guards.ts';

/** Files of an OpenTofu work directory: the template's, and those that the service adds. */

/** The override file that gives the configuration the service's backend, in place of all `backend` and `cloud` blocks. */
const backendStem = 'zzzz_coordinator_override';
const backendText = 'terraform {\n  backend "http" {}\n}\n';
const remoteStatePath = (name: string) => `.coordinator-remote-states/${name}.tfstate`;
/** An override that makes a data source of the root module read a state from a file, in place of its own backend. */
const remoteStateText = (name: string) => `data "terraform_remote_state" "${name}" {
  backend   = "local"
  workspace = "default"
  config    = { path = "${remoteStatePath(name)}" }
}
`;
const maxNameBytes = 255;
export const lockFile = '.terraform.lock.hcl';
export const dataDirectory = '.terraform';

const maxRecordBytes = 1024 * 1024;
const maxModuleFileBytes = 64 * 1024 * 1024;
const maxModuleFiles = 50_000;

export function digestSources({ files, directory = '' }: OpenTofuExecutor): string {
  return sha256(canonicalJson({ files, directory }));
}

/**
 * Returns the configuration as the files of a job, with the service's own backend and the states of other instances. @throws AttemptFailure
 */
export function layOutConfiguration(
  executor: OpenTofuExecutor,
  tool: ToolName,
  remoteStates: Readonly<Record<string, string>> = {},
): Map<string, JobFile> {
  const { directory = '' } = executor;
  const files = toWorkFiles(executor.files);
  const hasDirectory = [...files.keys()].some((path) => path.startsWith(join('work', directory, '/')));
  if (directory !== '' && !hasDirectory) {
    throw new AttemptFailure('files_invalid', `the template has no directory "${directory}"`);
  }
  requireConfiguration(executor, tool);
  const present = configurationFiles(executor.files, directory);
  refuseForbidden(present);
  for (const [name, content] of Object.entries(remoteStates))
    files.set(join('work', directory, remoteStatePath(name)), Buffer.from(content));
  const text = [backendText, ...Object.keys(remoteStates).sort().map(remoteStateText)].join('');
  return files.set(join('work', directory, nameBackendFile(present)), Buffer.from(text));
}

/**
 * The files directly in a directory (`''`: the root) by name, as the tool reads them: also through links, and including those of the
 * service.
 */
export function readLaidOut(
  { files }: OpenTofuExecutor,
  laidOut: ReadonlyMap<string, JobFile>,
  directory: string,
): Map<string, Buffer> {
  const found = new Map(readDirectory(files, directory).map(({ name, content }) => [name, bytesOf(content)]));
  for (const [path, file] of laidOut) {
    if (dirname(path) === join('work', directory) && !isJobLink(file)) found.set(basename(path), jobFileBytes(file));
  }
  return found;
}

function refuseForbidden(files: readonly ConfigurationFile[]): void {
  // OpenTofu would read such a file with the extension `.tofu` in place of the service's own.
  const reserved = files.find(({ name }) => name.startsWith(`${backendStem}.`));
  if (reserved) throw new AttemptFailure('files_invalid', `the service reserves the file name "${reserved.name}"`);
  const encrypting = withDifferentTexts(files).find(encryptsByProgram);
  if (encrypting === undefined) return;
  const message = `${encrypting.path} encrypts with an external program, which would also run where plans are shown: use a key provider that is built into OpenTofu`;
  throw new AttemptFailure('backend_forbidden', message);
}

/**
 * The name of the override file. The tools apply override files in the order of their names, and the last one wins, so this name sorts
 * after all of the template's.
 */
function nameBackendFile(files: readonly ConfigurationFile[]): string {
  const last = files.filter(({ name }) => isOverride(name)).at(-1);
  const name = `${backendStem}.tf`;
  if (last === undefined || compareNames(last.name, name) < 0) return name;
  const later = `${last.name}_${name}`;
  if (Buffer.byteLength(later) <= maxNameBytes) return later;
  throw new AttemptFailure('files_invalid', `the name of the override file "${last.name}" is too long`);
}

/**
 * Whether a file configures encryption whose keys or method come from a program of the template. The tool would run this program whenever
 * it reads the configuration. A file that cannot be parsed is searched for the words.
 */
function encryptsByProgram(file: ConfigurationFile): boolean {
  const { body, problem } = readFile(file);
  if (problem !== null) return /encryption|\\u/i.test(file.text) && /external|\\u/i.test(file.text);
  const settings = body.blocks.filter(({ type }) => type === 'terraform').flatMap((block) => block.body.blocks);
  const parts = settings.filter(({ type }) => type === 'encryption').flatMap((block) => block.body.blocks);
  return parts.some(({ labels }) => labels.some((label) => /external|\\/i.test(label)));
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
    // A record that cannot be read is not that of the service's backend.
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
export function digestModules(data: string): Promise<string> {
  return digestWith(data, async (path) => digestLink(await readUntrustedLink(data, path)));
}

/** The digest of a link within the digest of modules. */
export function digestLink(target: Buffer): string {
  return `link ${sha256(target)}`;
}

/**
 * The digest of modules as earlier releases computed it, without the targets of links. Plans of these releases contain it. If there are no
 * links, both digests are the same.
 */
export function digestModulesAsBefore(data: string): Promise<string> {
  return digestWith(data, async () => 'link');
}

async function digestWith(data: string, describeLink: (path: string) => Promise<string>): Promise<string> {
  try {
    const files = await listUntrustedFiles(data, 'modules', maxModuleFiles);
    const digests = new Map<string, string>();
    for (const { path, isRegular } of files) {
      const at = `modules/${path}`;
      const content = isRegular ? await readUntrustedFile(data, at, maxModuleFileBytes) : null;
      digests.set(path, content === null ? await describeLink(at) : sha256(content));
    }
    return files.length === 0 ? '' : sha256(canonicalJson(Object.fromEntries(digests)));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new AttemptFailure('init_failed', `the modules cannot be stored: ${why}`, { cause: error });
  }
}

/** Directories with providers, as a sandbox sees them. */
interface ProviderPlaces {
  /** The operator's directory; null if there is none. */
  readonly mirror: string | null;
  /** The directory of the only packages that the tool may use for some providers; null: for none. */
  readonly stock: { readonly path: string; readonly addresses: readonly string[] } | null;
}

/**
 * Writes the tool's settings, which say where providers come from. They are always written, because the tool would otherwise
 * also load providers from the template's files. HCL strings are JSON strings except for `${` and `%{`.
 */
export function cliSettings(settings: HostSettings, { mirror, stock }: ProviderPlaces): string {
  const { providerNetworkMirror: url, providersDirect } = settings;
  const list = (stock?.addresses ?? []).map(quote).join(', ');
  const others = stock === null ? [] : [`    exclude = [${list}]`];
  const method = (name: string, lines: readonly string[]) => [`  ${name} {`, ...lines, '  }'];
  return [
    'provider_installation {',
    ...(stock === null
      ? []
      : method('filesystem_mirror', [`    path = ${quote(stock.path)}`, `    include = [${list}]`])),
    ...(mirror === null ? [] : method('filesystem_mirror', [`    path = ${quote(mirror)}`, ...others])),
    ...(url === null ? [] : method('network_mirror', [`    url = ${quote(url)}`, ...others])),
    ...(providersDirect ? method('direct', others) : []),
    '}',
    '',
  ].join('\n');
}

function quote(value: string): string {
  return JSON.stringify(value).replaceAll('${', '$${').replaceAll('%{', '%%{');
}
