import type { Em } from '#database/database.ts';
import { db } from '#domain/db.ts';
import type { TemplateSpec } from '#domain/registry/spec.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { AdmissionTarget } from '../admission/target.ts';
import type { RunOperation } from '../model.ts';
import { findUnknownOption, namesOfOptions, type RunOptions } from './model.ts';

interface Wanted {
  readonly operation: RunOperation;
  readonly options: RunOptions | null;
  readonly replace: readonly string[];
}

/** @throws Unprocessable for an option that the template, the operation, the environment or the tool of the instance does not support or allow */
export async function refuseOptions(
  em: Em,
  {
    spec,
    target,
    instance,
  }: { readonly spec: TemplateSpec; readonly target: AdmissionTarget; readonly instance: string },
  wanted: Wanted,
): Promise<void> {
  refuseUnsupportedOptions(spec, wanted);
  refuseForbiddenOptions(target, wanted);
  await refuseUnknownOptions(em, target, instance, wanted.options);
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

/** @throws Unprocessable for an option that the tool which wrote the state of the instance does not know */
async function refuseUnknownOptions(
  em: Em,
  { templateId, environmentId }: AdmissionTarget,
  instance: string,
  options: RunOptions | null,
): Promise<void> {
  if (options?.exclude === undefined) return;
  const named = db(em).selectFrom('instances').where('name', '=', instance).where('deleted_at', 'is', null);
  const found = await (environmentId === null
    ? named.where('environment_id', 'is', null).where('template_id', '=', templateId)
    : named.where('environment_id', '=', environmentId)
  )
    .select('tool')
    .executeTakeFirst();
  const problem = found?.tool ? findUnknownOption(options, { name: found.tool }) : null;
  if (problem) throw new Unprocessable(`options.exclude: ${problem}`, { code: 'option_unknown' });
}
