import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { renderFormField } from '#api/web/forms/form.ts';
import { writeEdit } from '#api/web/forms/schema/edit.ts';
import { type Html, html } from '#api/web/html.ts';
import type { RequestedOperation } from '#domain/runs/model.ts';
import { logLevels, maxParallelism } from '#domain/runs/options/model.ts';
import { noEnvironment, type RunFacts } from './facts.ts';
import type { RunForm } from './run-form.ts';

export const basicLabels = {
  version: 'Version',
  environment_id: 'Environment',
  instance: 'Instance',
  operation: 'Operation',
  replace: 'Replace resources',
  'options.target': 'Only these resources',
  'options.exclude': 'All but these resources',
  'options.refresh': 'Refresh',
  'options.parallelism': 'Operations at a time',
  'options.log_level': 'Debug log of the tool',
  despite_dependents: 'What was deployed with its outputs',
  message: 'Message',
} as const;

/** What each operation does, as forms explain it. */
export const operationLabels: Readonly<Record<RequestedOperation, string>> = {
  apply: 'Apply: plan, and change what differs',
  plan: 'Plan only: change nothing',
  destroy: 'Destroy: remove what is deployed',
  refresh: 'Refresh: update the state from what is really there',
};

/** Which version is run, where, and how. */
export function renderTarget({ facts, basic, problems, address }: RunForm): Html {
  const { source } = facts;
  const isSent = (name: 'version' | 'environment_id' | 'instance' | 'operation') => basic[name] ?? '';
  const fields: FormField[] = [
    {
      name: 'version',
      label: basicLabels.version,
      kind: 'select',
      value: isSent('version'),
      choices: versionChoices(facts),
      isCut: facts.hasMoreVersions,
    },
    {
      name: 'operation',
      label: basicLabels.operation,
      kind: 'select',
      value: isSent('operation'),
      choices: operationChoices(facts),
      hint: 'A destroy takes what you leave empty from the deployment that it removes.',
    },
    ...(source ? [] : [environmentField(facts, isSent('environment_id'))]),
    {
      name: 'instance',
      label: basicLabels.instance,
      value: isSent('instance'),
      isOptional: true,
      maxLength: 100,
      hint: html`What is deployed, by its name in the environment. Left empty, it is called <code class="foreign">${facts.template.slug}</code>.`,
    },
  ];
  return html`<div class="form-pairs">${fields.map((field) => renderFormField(field, problems?.fields[field.name]))}</div>
${source ? html`<p class="muted">It runs where the earlier run did: ${placeOf(facts)}.</p>` : null}
<button class="button button-small" type="submit" name="do" value="${writeEdit('show', '')}" formaction="${address}#variables" data-edit data-edit-for="version environment_id">Show the fields of this version and environment</button>`;
}

function placeOf({ environments, environmentId }: RunFacts): Html {
  const label = environments.find(({ id }) => id === environmentId)?.label;
  return html`<span class="foreign">${label ?? (environmentId ? 'its environment' : 'no environment')}</span>`;
}

function environmentField(
  { environments, hasMoreEnvironments, environmentId, template }: RunFacts,
  chosen: string,
): FormField {
  const choices = environments.map(({ id, label }) => ({ value: id, label }));
  const isKnown = environmentId === '' || environments.some(({ id }) => id === environmentId);
  return {
    name: 'environment_id',
    label: basicLabels.environment_id,
    kind: 'select',
    isCut: hasMoreEnvironments,
    value: chosen || environmentId || (environments.length > 0 ? '' : noEnvironment),
    choices: [
      ...(environments.length > 0 ? [{ value: '', label: 'Choose…' }] : []),
      { value: noEnvironment, label: 'None' },
      ...(isKnown ? [] : [{ value: environmentId, label: 'The environment of the link' }]),
      ...choices,
    ],
    hint:
      template.team_id === null
        ? 'Without one, the run belongs to no team, and everybody may see it.'
        : 'It gives the run its variables, its secrets and its approval policy.',
  };
}

function versionChoices({ template, versions, version, source }: RunFacts): { value: string; label: string }[] {
  const listed = versions.filter(({ yanked_at }) => yanked_at === null).map((each) => each.version);
  const shown = version?.version ?? '';
  const names = [...new Set([...(listed.includes(shown) || !shown ? [] : [shown]), ...listed])];
  const latest = { value: '', label: `Latest (${template.latest_version ?? 'none'})` };
  return [...(source ? [] : [latest]), ...names.map((name) => ({ value: name, label: name }))];
}

function operationChoices({ version }: RunFacts): { value: string; label: string }[] {
  const executor = version?.spec['executor'] as { kind?: string; destroy?: unknown } | undefined;
  const isCommand = executor?.kind === 'command';
  const supported = (Object.keys(operationLabels) as RequestedOperation[]).filter(
    (operation) =>
      !isCommand || (operation !== 'refresh' && (operation !== 'destroy' || executor?.destroy !== undefined)),
  );
  return supported.map((operation) => ({ value: operation, label: operationLabels[operation] }));
}

/** Why the run is asked for. */
export function basicParts({ basic }: RunForm): FormField[] {
  const despite: FormField = {
    name: 'despite_dependents',
    label: basicLabels.despite_dependents,
    kind: 'select',
    value: basic.despite_dependents ?? '',
    choices: [
      { value: '', label: 'Do not destroy it if others were deployed with its outputs' },
      { value: 'yes', label: 'Destroy it all the same: they keep the values that they were given' },
    ],
  };
  const message: FormField = {
    name: 'message',
    label: basicLabels.message,
    kind: 'area',
    value: basic.message ?? '',
    isOptional: true,
    maxLength: 4000,
    hint: 'For those who review the run, and for you in half a year.',
  };
  return basic.operation === 'destroy' ? [despite, message] : [message];
}

/** What few runs need: how the tool is used. */
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
    addresses('replace', 'Addresses of resources that an apply destroys and makes anew, one a line.'),
    addresses('options.target', 'Addresses, one a line: these and what they depend on. The run is partial then.'),
    addresses(
      'options.exclude',
      'Addresses, one a line: all but these. The run is partial then. OpenTofu 1.9 or newer.',
    ),
    {
      name: 'options.refresh',
      label: basicLabels['options.refresh'],
      kind: 'select',
      value: basic['options.refresh'] ?? '',
      choices: [
        { value: '', label: 'Look at what is really there' },
        { value: 'no', label: 'Compare with the state alone: the run is partial then' },
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
      hint: 'How much the tool does at once. Empty: as usual.',
    },
    {
      name: 'options.log_level',
      label: basicLabels['options.log_level'],
      kind: 'select',
      value: basic['options.log_level'] ?? '',
      choices: [{ value: '', label: 'None' }, ...logLevels.map((level) => ({ value: level, label: level }))],
      hint: 'What the tool logs about itself, apart from the log. Those who may create runs can read it, for 30 days.',
    },
  ];
}

/** Whether a part of them is filled in, so that they are shown. */
export function usesAdvanced({ basic, problems }: RunForm): boolean {
  const names = Object.keys(basicLabels).filter((name) => name === 'replace' || name.startsWith('options.'));
  return names.some((name) => (basic[name as keyof typeof basic] ?? '') !== '' || problems?.fields[name] !== undefined);
}
