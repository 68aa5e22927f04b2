import { messageField } from '#api/runs/pages/message-field.ts';
import { optionalEnvironmentField } from '#api/tenancy/pages/environment-choices.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { yesIf } from '#api/web/forms/fields/yes.ts';
import { renderFormField } from '#api/web/forms/form.ts';
import { typedNameField } from '#api/web/forms/resource-forms.ts';
import { writeEdit } from '#api/web/forms/schema/edit.ts';
import { type Html, html } from '#api/web/html.ts';
import { logLevels, maxParallelism } from '#domain/runs/options/model.ts';
import type { RequestedOperation } from '#domain/shared/vocabulary/runs.ts';
import { supports } from '../destroy-steps.ts';
import { nameOfTarget, type RunFacts, runsDeployedVersion } from './facts.ts';
import type { RunForm } from './run-form.ts';

export const basicLabels = {
  version: 'Version',
  environment_id: 'Environment',
  instance: 'Instance',
  operation: 'Operation',
  replace: 'Replace resources',
  'options.target': 'Only these resources',
  'options.exclude': 'All except these resources',
  'options.refresh': 'Refresh',
  'options.parallelism': 'Parallelism',
  'options.log_level': 'Debug log',
  despite_dependents: 'Instances that use its outputs',
  confirmation: 'Confirmation',
  message: 'Message',
} as const;

/** What each operation does, in the words of forms. */
export const operationLabels: Readonly<Record<RequestedOperation, string>> = {
  apply: 'Apply: plan, and change what differs',
  plan: 'Plan only: change nothing',
  destroy: 'Destroy: remove everything that is deployed',
  refresh: 'Refresh: update the state from the actual resources',
};

/** Which version is run, where, and how. */
export function renderTarget({ facts, basic, problems, address }: RunForm): Html {
  const { source, deployed } = facts;
  const isSent = (name: 'version' | 'environment_id' | 'instance' | 'operation') => basic[name] ?? '';
  const fields: FormField[] = [
    {
      name: 'version',
      label: basicLabels.version,
      kind: 'select',
      value: isSent('version'),
      choices: versionChoices(facts, isSent('operation')),
      isCut: facts.hasMoreVersions,
      choiceKinds: [],
    },
    {
      name: 'operation',
      label: basicLabels.operation,
      kind: 'select',
      value: isSent('operation'),
      choices: operationChoices(facts, isSent('operation')),
      hint: 'For a destroy, empty fields take the values of the deployment.',
    },
    ...(source || deployed ? [] : [targetEnvironment(facts, isSent('environment_id'))]),
    ...(deployed ? [] : [instanceField(facts, isSent('instance'))]),
  ];
  return html`<div class="form-pairs">${fields.map((field) => renderFormField(field, problems?.fields[field.name]))}</div>
${source ? html`<p class="muted">Same environment as the earlier run: ${placeOf(facts)}.</p>` : null}
${deployed ? html`<p class="muted">It deploys <span class="foreign">${deployed.instance.name}</span> in ${placeOf(facts)}.</p>` : null}
<button class="button button-small" type="submit" name="do" value="${writeEdit('show', '')}" formaction="${address}#variables" data-edit data-edit-for="version environment_id operation">${deployed ? 'Show the fields of this version' : 'Show the fields of this version and environment'}</button>`;
}

function instanceField({ template }: RunFacts, value: string): FormField {
  return {
    name: 'instance',
    label: basicLabels.instance,
    value,
    isOptional: true,
    hint: html`What is deployed, by its name in the environment. Left empty, it is called <code class="foreign">${template.slug}</code>.`,
  };
}

function placeOf({ environments, environmentId }: RunFacts): Html {
  const label = environments.choices.find(({ value }) => value === environmentId)?.label;
  return html`<span class="foreign">${label ?? (environmentId ? 'its environment' : 'no environment')}</span>`;
}

function targetEnvironment({ environments, environmentId, template }: RunFacts, typed: string): FormField {
  return {
    ...optionalEnvironmentField(environments, typed || environmentId),
    hint:
      template.team_id === null
        ? `${environmentHint} Such a run belongs to no team, and everybody can see it.`
        : environmentHint,
  };
}

const environmentHint =
  'Provides variables, secrets, connections and an approval policy. A run outside any environment gets none of them: only the approval that the template demands applies, or else the default of the installation.';

/** The choices of a version. The empty choice is the deployed version for a destroy, and the latest version for everything else. */
function versionChoices(facts: RunFacts, operation: string): { value: string; label: string }[] {
  const { template, versions, version, source, deployed, replaced } = facts;
  const listed = versions.filter(({ yanked_at }) => yanked_at === null).map((each) => each.version);
  const shown = version?.version ?? '';
  const names = [...new Set([...(listed.includes(shown) || !shown ? [] : [shown]), ...listed])];
  const isOfDeployed = runsDeployedVersion(facts, { operation });
  const baseline = isOfDeployed ? (deployed ?? replaced) : null;
  const latest = {
    value: '',
    label: baseline ? `As deployed (${baseline.version})` : `Latest (${template.latest_version ?? 'none'})`,
  };
  return [...(source ? [] : [latest]), ...names.map((name) => ({ value: name, label: name }))];
}

/**
 * The operations that the shown version supports. A destroy may also run the deployed version. The visitor's own choice stays in the list.
 */
function operationChoices({ version, deployed, replaced }: RunFacts, sent: string): { value: string; label: string }[] {
  const specs = [version?.spec ?? {}, (deployed ?? replaced)?.spec ?? {}];
  const supported = (Object.keys(operationLabels) as RequestedOperation[]).filter(
    (operation) =>
      operation === sent || specs.slice(0, operation === 'destroy' ? 2 : 1).some((spec) => supports(spec, operation)),
  );
  return supported.map((operation) => ({ value: operation, label: operationLabels[operation] }));
}

/** The fields for the message and for the confirmations. */
export function basicParts({ facts, basic }: RunForm): FormField[] {
  const despite: FormField = {
    name: 'despite_dependents',
    isUnkept: true,
    label: basicLabels.despite_dependents,
    kind: 'select',
    value: basic.despite_dependents ?? '',
    choices: [
      { value: '', label: 'Do not destroy it while other instances use its outputs' },
      { value: yesIf(true), label: 'Destroy it anyway: they keep the values that they have' },
    ],
  };
  const message = messageField(basic.message);
  if (basic.operation !== 'destroy') return [message];
  return [despite, message, { ...typedNameField(nameOfTarget(facts, basic)), value: basic.confirmation ?? '' }];
}

/** The fields for options of the tool, which few runs need. */
export function advancedParts({ facts, basic }: RunForm): FormField[] {
  if (facts.version?.executor !== 'opentofu') return [];
  const addresses = (name: 'replace' | 'options.target' | 'options.exclude', hint: string): FormField => ({
    name,
    label: basicLabels[name],
    kind: 'area',
    value: basic[name] ?? '',
    isOptional: true,
    hint,
  });
  return [
    addresses('replace', 'Addresses of resources to destroy and create again, one per line.'),
    addresses(
      'options.target',
      'Addresses, one per line: only these and what they depend on. The run is then partial.',
    ),
    addresses(
      'options.exclude',
      'Addresses, one per line: everything except these. The run is then partial. Requires OpenTofu 1.9 or newer.',
    ),
    {
      name: 'options.refresh',
      label: basicLabels['options.refresh'],
      kind: 'select',
      value: basic['options.refresh'] ?? '',
      choices: [
        { value: '', label: 'Read the actual resources' },
        { value: 'no', label: 'Compare with the state only: the run is then partial' },
      ],
    },
    {
      name: 'options.parallelism',
      label: basicLabels['options.parallelism'],
      kind: 'number',
      min: 1,
      max: maxParallelism,
      value: basic['options.parallelism'] ?? '',
      isOptional: true,
      hint: 'How many operations run at the same time. Leave empty for the default.',
    },
    {
      name: 'options.log_level',
      label: basicLabels['options.log_level'],
      kind: 'select',
      value: basic['options.log_level'] ?? '',
      choices: [{ value: '', label: 'None' }, ...logLevels.map((level) => ({ value: level, label: level }))],
      hint: 'A separate log of the tool itself. Everybody who may create runs can read it for 30 days.',
    },
  ];
}

/** Whether one of these fields is filled in or has a problem, so that the part is open. */
export function usesAdvanced({ basic, problems }: RunForm): boolean {
  const names = Object.keys(basicLabels).filter((name) => name === 'replace' || name.startsWith('options.'));
  return names.some((name) => (basic[name as keyof typeof basic] ?? '') !== '' || problems?.fields[name] !== undefined);
}
