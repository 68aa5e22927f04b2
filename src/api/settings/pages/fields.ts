import type { z } from 'zod';
import type { FormField } from '#api/web/forms/form.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { revisionField } from '#api/web/forms/resource-forms.ts';
import { featureNames, features } from '#domain/features.ts';
import { quotaKindNames } from '#domain/quotas/model.ts';
import { approvalRules } from '#domain/registry/spec.ts';
import { retentionKinds } from '#domain/settings/document.ts';
import type { SettingsView } from '../views.ts';

export type ShownSettings = z.input<typeof SettingsView>;

const kept: Readonly<Record<(typeof retentionKinds)[number], string>> = {
  audit: 'Audit records',
  events: 'Events',
  run_logs: 'Logs of runs',
  run_plans: 'Plans of runs',
  drift_scans: 'Scans of drift monitors',
  drift_findings: 'Resolved drift findings',
};

const ruleLabels: Readonly<Record<(typeof approvalRules)[number], string>> = {
  never: 'No run',
  destroys: 'Runs that destroy something',
  changes: 'Runs that change something',
  always: 'Every run',
};

const featuresHelp =
  'An area is on unless you say why it is off. What is off starts nothing new, and everybody who wants to use it is told the reason.';

/** The fields of the settings, with what holds now. */
export function settingsFields(settings: ShownSettings): FormField[] {
  const { default_approval_policy: policy } = settings;
  return [
    {
      section: {
        title: 'Approvals',
        help: 'Who has to approve a run where neither its template nor its environment says so.',
      },
      name: 'default_approval_policy.required',
      label: 'Approvals where no policy is stated',
      kind: 'number',
      min: 0,
      max: 5,
      value: String(policy.required),
      hint: 'For new environments that state none, and for runs without an environment. Production never has less than its own default.',
    },
    {
      name: 'default_approval_policy.when',
      label: 'They are needed for',
      kind: 'select',
      value: policy.when,
      choices: approvalRules.map((rule) => ({ value: rule, label: ruleLabels[rule] })),
    },
    {
      name: 'default_approval_policy.allow_self',
      label: 'People may approve their own runs',
      kind: 'select',
      value: String(policy.allow_self),
      choices: [
        { value: 'false', label: 'No' },
        { value: 'true', label: 'Yes' },
      ],
    },
    {
      section: { title: 'Tools and workers', help: 'What may run templates, and where.' },
      name: 'allowed_tools',
      label: 'Allowed tools',
      kind: 'area',
      isOptional: true,
      value: toLines(settings.allowed_tools, (ranges) => ranges.join(', ')),
      hint: 'One in a line, with ranges of versions, such as: opentofu >=1.8 <2. The tools are opentofu, terraform and command. Empty: all.',
    },
    {
      name: 'default_pool',
      label: 'Default worker pool',
      isOptional: true,
      value: settings.default_pool,
      maxLength: 63,
      hint: `The pool of templates that name none. Empty: ${settings.defaults.default_pool}.`,
    },
    ...retentionKinds.map(
      (kind, index): FormField => ({
        ...(index === 0 && {
          section: { title: 'Retention', help: 'How long things are kept. What is older is removed for good.' },
        }),
        name: `retention.${kind}`,
        label: kept[kind],
        isOptional: true,
        value: String(settings.retention[kind]),
        maxLength: 8,
        hint: `A number of days, or forever. Empty: ${settings.defaults.retention[kind]}.`,
      }),
    ),
    {
      section: { title: 'Quotas', help: 'Limits of organizations and teams that have no quota of their own.' },
      name: 'default_quotas',
      label: 'Default quotas',
      kind: 'area',
      isOptional: true,
      value: toLines(settings.default_quotas, String),
      hint: `One limit in a line, such as: runs_per_day 500. There are ${quotaKindNames.join(', ')}. Empty: no limits.`,
    },
    {
      section: { title: 'Sign-in', help: 'What people see before they sign in.' },
      name: 'sign_in_notice',
      label: 'Notice on the sign-in page',
      kind: 'area',
      isOptional: true,
      value: settings.sign_in_notice ?? '',
      maxLength: 2000,
      hint: 'Plain text, which everybody sees before they sign in.',
    },
    ...featureNames.map((name, index) => ({
      ...(index === 0 && { section: { title: 'Features', help: featuresHelp } }),
      ...featureField(name, settings),
    })),
    revisionField(settings),
  ];
}

function featureField(name: (typeof featureNames)[number], settings: ShownSettings): FormField {
  return {
    name: `features.${name}.reason`,
    label: `${features[name].title}: why it is off`,
    isOptional: true,
    value: settings.features[name].reason ?? '',
    maxLength: 500,
    hint: 'Empty: it is on.',
  };
}

function toLines<Value>(members: Readonly<Record<string, Value>> | null, show: (value: Value) => string): string {
  return Object.entries(members ?? {})
    .map(([name, value]) => `${name} ${show(value as Value)}`)
    .join('\n');
}

/** The change of the settings that was typed: only what differs from what the form showed. An empty field restores the default. */
export function toChange(settings: ShownSettings, typed: Typed): Record<string, unknown> {
  const shown = new Map(settingsFields(settings).map(({ name, value = '' }) => [name, value]));
  const isChanged = (name: string) => (typed[name] ?? '').trim() !== shown.get(name)?.trim();
  const one = (name: string, read: (text: string) => unknown) =>
    isChanged(name) ? { [name]: toNull(typed[name], read) } : {};
  const policy = ['required', 'when', 'allow_self'].map((part) => `default_approval_policy.${part}`);
  return {
    ...one('sign_in_notice', (text) => text),
    ...one('default_pool', (text) => text.trim()),
    ...one('allowed_tools', (text) => readLines(text, (ranges) => ranges.split(/\s*,\s*/))),
    ...(policy.some(isChanged) && { default_approval_policy: readPolicy(typed) }),
    ...group(
      'retention',
      retentionKinds.filter((kind) => isChanged(`retention.${kind}`)),
      (kind) => toNull(typed[`retention.${kind}`], toDays),
    ),
    ...(isChanged('default_quotas') && { default_quotas: readQuotas(typed['default_quotas'] ?? '') }),
    ...group(
      'features',
      featureNames.filter((name) => isChanged(`features.${name}.reason`)),
      (name) => {
        const reason = typed[`features.${name}.reason`]?.trim();
        return reason ? { enabled: false, reason } : { enabled: true };
      },
    ),
    ...(typed['expected_revision'] && { expected_revision: Number(typed['expected_revision']) }),
  };
}

function toNull(text: string | undefined, read: (text: string) => unknown): unknown {
  return text === undefined || text.trim() === '' ? null : read(text);
}

function group<Name extends string>(name: string, members: readonly Name[], read: (member: Name) => unknown): object {
  if (members.length === 0) return {};
  return { [name]: Object.fromEntries(members.map((member) => [member, read(member)])) };
}

/** The operation says what is wrong with anything but digits. */
function toDays(text: string): unknown {
  return /^\d{1,9}$/.test(text.trim()) ? Number(text) : text.trim();
}

function readPolicy(typed: Typed): object {
  const part = (name: string) => typed[`default_approval_policy.${name}`];
  return { required: toDays(part('required') ?? ''), when: part('when'), allow_self: part('allow_self') === 'true' };
}

function readLines(text: string, read: (value: string) => unknown): Record<string, unknown> {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', value = ''] = line.split(/\s+(.*)/s);
      return [name, read(value)];
    }),
  );
}

/** Limits that are no longer in the field are removed. */
function readQuotas(text: string): Record<string, unknown> {
  return { ...Object.fromEntries(quotaKindNames.map((kind) => [kind, null])), ...readLines(text, toDays) };
}
