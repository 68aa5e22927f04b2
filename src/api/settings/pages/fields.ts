import type { z } from 'zod';
import { shownRule } from '#api/environments/pages/environment-fields.ts';
import { limitField } from '#api/quotas/pages/limit-fields.ts';
import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { yesIf } from '#api/web/forms/fields/yes.ts';
import { revisionField } from '#api/web/forms/resource-forms.ts';
import { featureNames, features } from '#domain/features.ts';
import { retentionKinds } from '#domain/settings/document.ts';
import { type approvalRules, offeredRules } from '#domain/shared/vocabulary/approval.ts';
import { quotaKindNames } from '#domain/shared/vocabulary/quotas.ts';
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
  always: 'Runs that change something',
};

/** A section of the settings. It has a page of its own. */
export interface SettingsSection {
  /** The last part of its address. */
  readonly key: string;
  readonly title: string;
  readonly help: string;
  /** Its fields, with the effective values. */
  readonly fields: (settings: ShownSettings) => FormField[];
}

/** The sections of the settings, in the order of their tabs. */
export const settingsSections: readonly [SettingsSection, ...SettingsSection[]] = [
  {
    key: 'approvals',
    title: 'Approvals',
    help: 'The approval policy where neither the template nor the environment has one.',
    fields: approvalFields,
  },
  {
    key: 'tools',
    title: 'Tools',
    help: 'The tools and workers that run templates.',
    fields: toolFields,
  },
  {
    key: 'retention',
    title: 'Retention',
    help: 'How long records are kept. Older records are deleted permanently.',
    fields: (settings) => retentionKinds.map((kind) => retentionField(kind, settings)),
  },
  {
    key: 'quotas',
    title: 'Quotas',
    help: 'Limits of every organization and team without a quota of its own. Leave empty for no limit.',
    fields: (settings) =>
      quotaKindNames.map((kind) => limitField('default_quotas', kind, settings.default_quotas?.[kind])),
  },
  { key: 'sign-in', title: 'Sign-in', help: 'Shown to people before they sign in.', fields: signInFields },
  {
    key: 'features',
    title: 'Features',
    help: 'Turn parts of the service off and on. A part that is off starts nothing new, and what it has cannot be read or changed until it is on again: its pages are closed, and searches do not find what it has. Work that it has started goes on. Administrators of the installation can change this; everybody else sees the reason.',
    fields: (settings) => featureNames.flatMap((name) => featureFields(name, settings)),
  },
];

/** The fields of a section, and the revision that they change. */
export function settingsFields(section: SettingsSection, settings: ShownSettings): FormField[] {
  return [...section.fields(settings), { ...revisionField(settings), isOptional: true }];
}

function approvalFields({ default_approval_policy: policy }: ShownSettings): FormField[] {
  return [
    {
      name: 'default_approval_policy.required',
      label: 'Required approvals',
      kind: 'number',
      min: 0,
      max: 5,
      value: String(policy.required),
      hint: 'For new environments without a policy, and for runs without an environment. Production environments require at least their own default.',
    },
    {
      name: 'default_approval_policy.when',
      label: 'Approval is required for',
      kind: 'select',
      value: shownRule(policy),
      choices: offeredRules(policy.when).map((rule) => ({ value: rule, label: ruleLabels[rule] })),
    },
    {
      name: 'default_approval_policy.allow_self',
      label: 'People may approve their own runs',
      kind: 'select',
      value: yesIf(policy.allow_self),
      choices: [
        { value: yesIf(false), label: 'No' },
        { value: yesIf(true), label: 'Yes' },
      ],
    },
  ];
}

function toolFields(settings: ShownSettings): FormField[] {
  return [
    {
      name: 'allowed_tools',
      label: 'Allowed tools',
      kind: 'area',
      isOptional: true,
      value: toLines(settings.allowed_tools),
      hint: 'One per line, with the versions that may be used, such as: opentofu >= 1.8, < 2.0. A tool may have several lines. The tools are opentofu, terraform and command. Empty: all.',
    },
    {
      name: 'default_pool',
      label: 'Default worker pool',
      isOptional: true,
      value: settings.default_pool,
      hint: `The pool of templates that do not name one. Default: ${settings.defaults.default_pool}.`,
    },
  ];
}

function retentionField(kind: (typeof retentionKinds)[number], settings: ShownSettings): FormField {
  return {
    name: `retention.${kind}`,
    label: kept[kind],
    isOptional: true,
    value: String(settings.retention[kind]),
    hint: `A number of days, or forever. Default: ${settings.defaults.retention[kind]}.`,
  };
}

function signInFields(settings: ShownSettings): FormField[] {
  return [
    {
      name: 'sign_in_notice',
      label: 'Notice on the sign-in page',
      kind: 'area',
      isOptional: true,
      value: settings.sign_in_notice ?? '',
      hint: 'Plain text, shown to everybody on the sign-in page.',
    },
  ];
}

/** A switch, and the reason that everybody reads while it is off. */
function featureFields(name: (typeof featureNames)[number], settings: ShownSettings): FormField[] {
  const { enabled, reason } = settings.features[name];
  return [
    checkboxField(`features.${name}.enabled`, features[name].title, enabled, { isSwitch: true }),
    {
      name: `features.${name}.reason`,
      label: `Why ${features[name].title} is off`,
      isReasonOfSwitch: true,
      value: reason ?? '',
      hint: 'Everybody who tries to use it reads this.',
    },
  ];
}

function toLines(tools: ShownSettings['allowed_tools']): string {
  return Object.entries(tools ?? {})
    .flatMap(([name, ranges]) => ranges.map((range) => `${name} ${range}`))
    .join('\n');
}
