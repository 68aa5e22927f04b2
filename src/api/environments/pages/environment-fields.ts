import { isDeepStrictEqual } from 'node:util';
import { checkboxField } from '#api/web/forms/fields/checkbox.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { readWholeNumber } from '#api/web/forms/read-form.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { isolationField } from '#api/workers/pages/labels.ts';
import { readTool } from '#api/workers/tool-fields.ts';
import { defaultApproval, environmentKinds } from '#domain/environments/model.ts';
import type { ApprovalRule } from '#domain/shared/vocabulary/approval.ts';
import { offeredRules } from '#domain/shared/vocabulary/approval.ts';
import { allowedOptions, runOptionNames } from '#domain/shared/vocabulary/run-options.ts';
import { kindWords, optionWords } from './labels.ts';

/** Reads the rules of an environment. If the visitor chooses no approval rule, that of its kind applies. */
export function toRules(visit: Visit, typed: Typed, { isNew = false } = {}): Record<string, unknown> {
  const policy = toPolicy(visit, typed, isNew);
  return {
    ...(policy && { approval_policy: policy }),
    ttl: typed['ttl']?.trim() || null,
    isolation: typed['isolation'] || null,
    plan_secrets: typed['plan_secrets'] || null,
    tool: visit.collect(() => readTool(typed)),
  };
}

/** The number of approvals that a new environment requires if its form names only when to ask for one. */
const usualApprovals = 1;

/** Reads the policy. Null if that of the kind applies; then the other fields of the policy must be empty. */
function toPolicy(visit: Visit, typed: Typed, isNew: boolean): object | null {
  const when = typed['approval_policy.when'] ?? '';
  const required = typed['approval_policy.required']?.trim() ?? '';
  const allowSelf = isYes(typed['approval_policy.allow_self']);
  if (when === '') {
    const left = [
      ...(required === '' ? [] : ['leave Required approvals empty']),
      ...(allowSelf ? ['uncheck "Requesters may approve their own runs"'] : []),
    ];
    if (left.length > 0)
      visit.addProblem('approval_policy.when', `choose when to ask for approval, or ${left.join(' and ')}`);
    return null;
  }
  addApprovalProblem(visit, typed, 'approval_policy');
  const count = isNew && required === '' ? usualApprovals : readWholeNumber(required);
  return { required: count, when, allow_self: allowSelf };
}

/**
 * Refuses a policy that asks for approval but requires 0 approvals, because no reviewer would be asked.
 * @param policy the path of its fields
 */
export function addApprovalProblem(visit: Visit, typed: Typed, policy: string): void {
  const when = typed[`${policy}.when`] ?? '';
  if (when === '' || when === 'never' || typed[`${policy}.required`]?.trim() !== '0') return;
  visit.addProblem(
    `${policy}.required`,
    'with 0 approvals nobody is asked: enter 1 or more, or ask for approval never',
  );
}

/** The rule that a form shows. A policy with 0 required approvals never asks for one. */
export function shownRule({
  required,
  when,
}: {
  readonly required: number;
  readonly when: ApprovalRule;
}): ApprovalRule {
  return required === 0 ? 'never' : when;
}

export const nameAndKind: FormField[] = [
  { name: 'name', label: 'Name' },
  {
    name: 'kind',
    label: 'Kind',
    kind: 'select',
    choices: environmentKinds.map((value) => ({ value, label: kindWords[value] })),
    hint: `Production starts with ${defaultApproval.production.required} approval of every change. Changing the kind later needs an owner of the team.`,
  },
];

export const slugField: FormField = {
  name: 'slug',
  label: 'Slug',
  hint: 'Unique in its project. Changing it releases the old name for others.',
};

/** The fields of a policy. @param when the environment's rule; null for a new environment */
export function policyFields(when: ApprovalRule | null): FormField[] {
  const ofKind = when === null ? [{ value: '', label: 'Default for the kind' }] : [];
  return [
    {
      name: 'approval_policy.when',
      label: 'Ask for approval',
      kind: 'select',
      choices: [
        ...ofKind,
        { value: 'never', label: 'Never' },
        { value: 'destroys', label: 'If a plan destroys something' },
        { value: offeredRules(when).at(-1) ?? 'changes', label: 'If a plan changes something' },
      ],
    },
    {
      name: 'approval_policy.required',
      label: 'Required approvals',
      kind: 'number',
      min: 0,
      max: 5,
      ...(when === null && {
        isOptional: true,
        hint: `Leave this empty for ${usualApprovals}, or for the default for the kind.`,
      }),
    },
    checkboxField('approval_policy.allow_self', 'Requesters may approve their own runs'),
  ];
}

/** Reads the checked options. Null if they are the defaults of the kind, so that later changes of the defaults apply too. */
export function toAllowedOptions(typed: Typed): string[] | null {
  const usual = allowedOptions({ kind: typed['kind'] ?? '', allowedOptions: null });
  const allowed = runOptionNames.filter((name) => isYes(typed[`allowed_options.${name}`]));
  return isDeepStrictEqual(allowed, usual) ? null : allowed;
}

export const optionFields = runOptionNames.map((name) =>
  checkboxField(
    `allowed_options.${name}`,
    `Runs may ${optionWords[name]}${name === 'log_level' ? ', which may contain secrets' : ''}`,
  ),
);

export const moreFields: FormField[] = [
  {
    name: 'ttl',
    label: 'Time to live',
    isOptional: true,
    hint: 'Deployments are destroyed after this time, such as 8h or P7D. Leave empty to keep them.',
  },
  isolationField,
  {
    name: 'plan_secrets',
    label: 'Secrets while planning',
    kind: 'select',
    choices: [
      { value: '', label: 'Plans may get the secrets that applies get' },
      { value: 'weaker', label: 'Plans get weaker secrets, or none' },
    ],
    hint: 'Anyone who may start a plan can have it print the secrets that it gets. With weaker ones, a run is refused whose plan would get the same secrets as its apply.',
  },
];
