import { createHash } from 'node:crypto';
import type { Em } from '#database/database.ts';
import { findGitCredential, type GitReader } from '#domain/connections/git-credential.ts';
import { connectionKinds } from '#domain/connections/kinds/kinds.ts';
import { readSettings } from '#domain/settings/store.ts';
import type { Principal } from '#domain/shared/access/principal.ts';
import { refuseArchived } from '#domain/shared/archiving.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Invalid, invalidField, ServiceError, Unprocessable } from '#domain/shared/errors.ts';
import { newId } from '#domain/shared/ids.ts';
import type { OutboundPolicy } from '#domain/shared/outbound/outbound-policy.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import { holdersOf } from '#domain/shared/tasks/limit-subject.ts';
import type { TemplateFiles } from '#domain/sources/files.ts';
import { type GitSnapshot, snapshotGit } from '#domain/sources/git/snapshot.ts';
import type { GitSource } from '#domain/sources/git/source.ts';
import { hasConfiguration } from '#domain/sources/hcl/root-files.ts';
import { weakenApproval } from '../approval/protection.ts';
import type { CheckFinding } from '../checks/model.ts';
import { attachCheck, type CheckDeps, type RequestedCheck, requestCheck } from '../checks/request.ts';
import { type DerivedSpec, deriveSpec } from '../derived-spec.ts';
import { TemplateSecretOutput, TemplateVersion } from '../entity.ts';
import type { NewVersion } from '../model.ts';
import type { TemplateSpec } from '../spec.ts';
import type { TemplateTarget } from '../store.ts';
import { refuseOtherTools } from '../tools/allowed.ts';
import { filesToolsOf } from '../tools/usable-tools.ts';
import { VersionPublished } from './errors.ts';
import { type CheckResult, checkVersion, refuseBroken } from './publication-check.ts';

/** The content of a version, prepared before its transaction because git may take a minute. */
export type PreparedVersion = {
  readonly files: TemplateFiles;
  readonly commit: string | null;
  /** `sha256:…` over spec and files: two versions with the same digest have the same content. */
  readonly digest: string;
  /** The published spec. With `derive`, it was completed from the files. */
  readonly spec: TemplateSpec;
  /** The findings about spec and files, both those without a worker and those of a worker. */
  readonly check: CheckResult;
  /** The check that was requested from a worker; null: there are errors already, or the version exists. */
  readonly requested: RequestedCheck | null;
  /** With `derive`: the README beside the configuration. */
  readonly readme: string | null;
};

/** The dependencies for reading a private repository, and the publisher. */
export interface Publication extends CheckDeps {
  readonly em: Em;
  readonly keyRing: KeyRing;
  readonly policy: OutboundPolicy;
  readonly principal: Principal;
  /** The environment whose connections let the check read private modules; null: none. */
  readonly checkEnvironmentId: string | null;
}

/** The content to publish. Without a version, it is only checked. */
export interface Draft {
  readonly version?: string;
  readonly spec: TemplateSpec;
  /** Whether to complete variables and outputs of the spec from the files. */
  readonly derive: boolean;
}

/**
 * Reads the files, and checks spec and files: first without running anything, and then by a worker in a sandbox, if a worker is available.
 * @throws Unprocessable, Unavailable if the git source cannot be read; Conflict if the template is archived
 */
export async function prepareVersion(
  target: TemplateTarget,
  draft: Draft,
  publication: Publication,
): Promise<PreparedVersion> {
  refuseArchived(target);
  refuseUnknownKinds(draft.spec);
  refuseUselessFields(draft.spec);
  const { em, principal, checkEnvironmentId: environmentId } = publication;
  const { leftOut, ...source } = await readSource(draft.spec, { ...publication, owner: target });
  const { spec, readme, notes } = draft.derive ? deriveSpec(draft.spec, source.files) : asTyped(draft.spec);
  const content = canonicalJson([spec, source.files]);
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  const found = checkVersion(spec, source.files);
  const warnings = [...notes, ...leftOut.map(describeLeftOut), ...found.warnings];
  const isRequested = found.errors.length === 0 && !(await isPublished(em, target, draft));
  const request = { target, principal, spec, files: source.files, environmentId };
  const requested = isRequested ? await requestCheck(publication, request) : null;
  const errors = [...found.errors, ...(requested?.result.errors ?? [])];
  return { ...source, spec, digest, check: { errors, warnings }, requested, readme };
}

function asTyped(spec: TemplateSpec): DerivedSpec {
  return { spec, readme: null, notes: [] };
}

async function isPublished(em: Em, { template }: TemplateTarget, { version }: Draft): Promise<boolean> {
  if (version === undefined) return false;
  return (await em.count(TemplateVersion, { templateId: template.id, version })) > 0;
}

/**
 * Publishes a version permanently. Publishing the same version with the same content again finds the existing one. The caller has locked
 * the template's row, so of two concurrent publications one creates the version and the other finds it.
 * @throws Conflict if the version is published with other content, or the template or its owner is archived
 * @throws Unprocessable if its files and its spec contradict each other, or the settings allow no tool that could run it
 * @throws Forbidden if it demands less approval than its highest version, and the publisher may not weaken policies
 */
export async function publishVersion(
  tx: Transaction,
  target: TemplateTarget,
  { version: name, changelog }: Pick<NewVersion, 'version' | 'changelog'>,
  prepared: PreparedVersion,
  publisher: Principal,
): Promise<{ version: TemplateVersion; isNew: boolean }> {
  refuseArchived(target);
  const { template } = target;
  const { check, requested, readme, spec, ...content } = prepared;
  const earlier = await tx.em.findOne(TemplateVersion, { templateId: template.id, version: name });
  if (earlier && !isSameContent(earlier, prepared)) throw new VersionPublished(name);
  if (earlier) return { version: earlier, isNew: false };
  refuseBroken(check);
  const filesTools = filesToolsOf(spec, content.files);
  refuseOtherTools((await readSettings(tx.em)).document.allowed_tools, spec, filesTools);
  await weakenApproval(tx, target, { version: name, spec }, publisher);
  const version = tx.em.create(TemplateVersion, {
    ...content,
    filesTools,
    id: newId(),
    templateId: template.id,
    version: name,
    spec,
    changelog,
    publishedBy: publisher.id,
    responsibleUserId: publisher.responsibleUserId,
  });
  await tx.em.persist([version, ...secretOutputsOf(tx.em, spec, version)]).flush();
  if (requested) await takeCheck(tx, target, { version, warnings: check.warnings, requested }, publisher);
  if (readme !== null) await fillReadme(tx, target, readme);
  return { version, isNew: true };
}

function secretOutputsOf(em: Em, { outputs }: TemplateSpec, version: TemplateVersion): TemplateSecretOutput[] {
  const { id: versionId, templateId } = version;
  const names = Object.keys(outputs).filter((name) => outputs[name]?.sensitive === true);
  return names.map((name) => em.create(TemplateSecretOutput, { templateId, name, versionId, isYanked: false }));
}

/** Stores the check of a version. @throws Unprocessable if its check found errors after the preparation */
async function takeCheck(
  tx: Transaction,
  target: TemplateTarget,
  taken: { version: TemplateVersion; warnings: CheckResult['warnings']; requested: RequestedCheck },
  principal: Principal,
): Promise<void> {
  const { version, warnings, requested } = taken;
  version.check = await attachCheck(tx, { id: version.id, warnings }, requested, { target, principal });
  refuseBroken(version.check);
  await tx.em.flush();
}

/** Gives a template without a readme the readme of its files. */
async function fillReadme(tx: Transaction, { template }: TemplateTarget, readme: string): Promise<void> {
  await tx.em.populate(template, ['readme']);
  if (template.readme.trim() === '' && template.change({ readme })) await tx.em.flush();
}

/** The same commit means the same content, even if an earlier release stored the files differently. */
function isSameContent(earlier: TemplateVersion, { digest, commit, spec }: PreparedVersion): boolean {
  if (earlier.digest === digest) return true;
  return commit !== null && earlier.commit === commit && canonicalJson(earlier.spec) === canonicalJson(spec);
}

/**
 * Removes a version from ranges and `latest`, permanently. Its exact name still finds it. Yanking it again changes nothing.
 * @param reason for those who use the version; may be empty
 */
export async function yankVersion(
  tx: Transaction,
  version: TemplateVersion,
  by: Principal,
  reason: string,
): Promise<void> {
  version.yank(by.id, reason);
  await tx.em.flush();
  const { templateId, id: versionId } = version;
  await tx.em.nativeUpdate(TemplateSecretOutput, { templateId, versionId }, { isYanked: true });
}

/** Refuses unknown kinds of connections, which no binding could ever fit. Versions of earlier releases may still have such kinds. */
function refuseUnknownKinds({ connections = [] }: TemplateSpec): void {
  const kinds: readonly string[] = connectionKinds;
  const at = connections.findIndex(({ kind }) => !kinds.includes(kind));
  if (at < 0) return;
  throw new Invalid(
    `spec.connections.${at}.kind: there is no such kind of connection: name one of ${kinds.join(', ')}`,
  );
}

/** Refuses a tool and remote states for commands, which use neither. Versions of earlier releases may still have them. */
function refuseUselessFields({ executor, tool, remote_states: states }: TemplateSpec): void {
  if (executor.kind !== 'command') return;
  if (tool !== undefined)
    throw invalidField(
      'spec.tool',
      'is only for templates of the kind "opentofu": the steps of commands start programs',
    );
  if (states !== undefined)
    throw invalidField(
      'spec.remote_states',
      'is only for templates of the kind "opentofu": name outputs of instances in variables of runs',
    );
}

function describeLeftOut(path: string): CheckFinding {
  const shown = path === '' ? 'the whole repository' : JSON.stringify(path);
  const message = `the files name ${shown}, which is left out: with it, the version would have more files or bytes than it may have`;
  return { path: '/executor/git', message };
}

/**
 * The files of a spec: its own, or those of its repository now, which errors find at `place`. @throws Unprocessable, Unavailable if the
 * repository cannot be read
 */
export async function readSource(
  { executor }: Pick<TemplateSpec, 'executor'>,
  { policy, ...reader }: GitReader & { readonly policy: OutboundPolicy },
  place = 'spec.executor.git',
): Promise<Pick<PreparedVersion, 'files' | 'commit'> & Pick<GitSnapshot, 'leftOut'>> {
  const git = executor.kind === 'opentofu' ? executor.git : undefined;
  if (git === undefined) return { files: executor.files ?? {}, commit: null, leftOut: [] };
  const snapshot = await readRepository(git, { ...reader, policy }).catch((error: unknown) => {
    throw error instanceof ServiceError ? atPlace(error, place) : error;
  });
  if (hasConfiguration(snapshot.files, git.path)) return snapshot;
  throw new Unprocessable(`${place}.path: the directory has no file such as "main.tf" at its top`, {
    code: 'source_path_missing',
  });
}

async function readRepository(
  { connection, ...source }: GitSource,
  { policy, ...reader }: GitReader & { readonly policy: OutboundPolicy },
): Promise<GitSnapshot> {
  const { principal, owner } = reader;
  const holders = holdersOf(principal, owner);
  if (connection === undefined) return snapshotGit(source, { policy, holders });
  const credential = await findGitCredential(reader, { connection, url: source.url });
  return snapshotGit(source, { policy, credential, holders });
}

/** The member of a git source that an error code concerns. Other errors concern the source as a whole. */
const memberOf: Readonly<Record<string, string>> = {
  source_ref_missing: '.ref',
  source_path_missing: '.path',
  host_unknown: '.url',
  address_refused: '.url',
};

/** The same error with the field of the request that caused it. */
function atPlace(error: ServiceError, place: string): ServiceError {
  const { kind, code, message, details, retryAfter, cause } = error;
  return new ServiceError(kind, `${place}${(code && memberOf[code]) ?? ''}: ${message}`, {
    code,
    ...(details && { details }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(cause !== undefined && { cause }),
  });
}
