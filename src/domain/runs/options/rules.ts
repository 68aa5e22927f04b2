import type { TemplateSpec } from '#domain/registry/spec.ts';
import { refuseFields, Unprocessable } from '#domain/shared/errors.ts';
import { redacted } from '#domain/shared/values/comparison/marks.ts';
import type { RunOperation } from '#domain/shared/vocabulary/runs.ts';
import { canBeAtLeast, type ToolDemand, toWantedTools } from '#domain/tools/demand.ts';
import type { AdmissionTarget } from '../admission/target.ts';
import { listDemandingOptions, namesOfOptions, type RunOptions } from './model.ts';

const name = String.raw`[\p{ID_Start}_][\p{ID_Continue}-]*`;
const key = String.raw`\[\s*(?:\d+|"(?:[^"\\\n]|\\.)*")\s*\]`;
const address = new RegExp(String.raw`^\s*${name}(?:\s*${key}|\s*\.\s*(?:${name}|\d+))*\s*$`, 'u');

/** Whether OpenTofu and Terraform can read a text as the address of resources or modules. Whether there are any is another question. */
export function isAddress(text: string): boolean {
  return address.test(text);
}

interface Wanted {
  readonly operation: RunOperation;
  readonly options: RunOptions | null;
  readonly replace: readonly string[];
}

/**
 * @throws Unprocessable for an option that the template, the operation, the environment or every tool that the run may use does not support
 * or allow
 */
export function refuseOptions(
  {
    spec,
    target,
    demand,
  }: {
    readonly spec: TemplateSpec;
    readonly target: AdmissionTarget;
    /** The tools that the run may use; null for commands. */
    readonly demand: ToolDemand | null;
  },
  wanted: Wanted,
): void {
  refuseUnsupportedOptions(spec, wanted);
  refuseUnusableAddresses(wanted);
  refuseForbiddenOptions(target, wanted);
  refuseUnknownOptions(demand, wanted.options);
}

/** @throws Unprocessable for an option that the template or the operation does not support */
function refuseUnsupportedOptions({ executor }: Pick<TemplateSpec, 'executor'>, wanted: Wanted): void {
  const [name] = namesOfOptions(wanted.options, []);
  if (name !== undefined && executor.kind !== 'opentofu') {
    throw unsupported(`options.${name}: only runs of OpenTofu templates have options; this template runs commands`);
  }
  if (wanted.operation === 'refresh' && wanted.options?.refresh === false)
    throw unsupported('options.refresh: a run that refreshes the state cannot leave out the refresh');
}

/**
 * @throws Unprocessable naming each address in which a secret is masked, because the tools would find no such resource and report no error
 * @throws Unprocessable naming each address that the tools cannot read: they would refuse it at the end of the queue
 */
function refuseUnusableAddresses({ replace, options }: Wanted): void {
  const addresses = { replace, 'options.target': options?.target, 'options.exclude': options?.exclude };
  const named = Object.entries(addresses).flatMap(([path, list = []]) => list.map((address) => ({ path, address })));
  const masked = named.filter(({ address }) => address.includes(redacted));
  if (masked.length > 0) throw refuseFields('address_masked', masked.map(describeMasked));
  const unreadable = named.filter(({ address }) => !isAddress(address));
  if (unreadable.length > 0) throw refuseFields('address_invalid', unreadable.map(describeUnreadable));
}

interface NamedAddress {
  readonly path: string;
  readonly address: string;
}

function describeMasked({ path, address }: NamedAddress) {
  const problem = `${address} is masked, because its key holds a secret: write the key in place of ${redacted}, or name the whole resource or module`;
  return { path, problem };
}

function describeUnreadable({ path, address }: NamedAddress) {
  const problem = `${JSON.stringify(address)} is not an address of a resource or a module: expected one such as module.app.random_pet.name["a key"]`;
  return { path, problem };
}

function unsupported(message: string): Unprocessable {
  return new Unprocessable(message, { code: 'operation_unsupported' });
}

/** @throws Unprocessable for an option that the environment does not allow */
function refuseForbiddenOptions(
  { allowedOptions, environmentId }: AdmissionTarget,
  { options, replace }: Pick<Wanted, 'options' | 'replace'>,
): void {
  const forbidden = namesOfOptions(options, replace).find((name) => !allowedOptions.includes(name));
  if (forbidden === undefined || environmentId === null) return;
  const allowed = allowedOptions.length === 0 ? 'none' : allowedOptions.join(', ');
  throw new Unprocessable(
    `options.${forbidden}: the environment does not allow this option for its runs (allowed_options: ${allowed})`,
    { code: 'option_forbidden' },
  );
}

/** @throws Unprocessable for an option that no tool which the run may use can know */
function refuseUnknownOptions(demand: ToolDemand | null, options: RunOptions | null): void {
  if (demand === null) return;
  const unknown = listDemandingOptions(options).find(({ since }) => !canBeAtLeast(demand, since));
  if (!unknown) return;
  const { name, since } = unknown;
  const usable = toWantedTools(demand).map((each) => [each.name, each.version].filter(Boolean).join(' '));
  throw new Unprocessable(
    `options.${name}: it needs ${since.name} ${since.version} or newer, and the run may use only ${usable.join(' or ')}`,
    { code: 'option_unknown' },
  );
}
