import { addApprovalProblem } from '#api/environments/pages/environment-fields.ts';
import { findLimitProblems, toLimits } from '#api/quotas/pages/limit-fields.ts';
import { isYes } from '#api/web/forms/fields/yes.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { readWholeNumber } from '#api/web/forms/read-form.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { type FeatureName, featureNames, features } from '#domain/features.ts';
import { allowableTools, allReleases } from '#domain/settings/allowed-tools.ts';
import { retentionKinds } from '#domain/settings/document.ts';
import { quotaKindNames } from '#domain/shared/vocabulary/quotas.ts';
import { type SettingsSection, type ShownSettings, settingsFields } from './fields.ts';

/** The change of a section: only values that differ from those that the form showed. An empty field restores the default. */
export function toChange(section: SettingsSection, settings: ShownSettings, typed: Typed): Record<string, unknown> {
  const shown = new Map(settingsFields(section, settings).map(({ name, value = '' }) => [name, value]));
  const isChanged = (name: string) => shown.has(name) && (typed[name] ?? '').trim() !== shown.get(name)?.trim();
  const one = (name: string, read: (text: string) => unknown) =>
    isChanged(name) ? { [name]: toNull(typed[name], read) } : {};
  const policy = ['required', 'when', 'allow_self'].map((part) => `default_approval_policy.${part}`);
  return {
    ...one('sign_in_notice', (text) => text),
    ...one('default_pool', (text) => text.trim()),
    ...one('allowed_tools', readTools),
    ...(policy.some(isChanged) && { default_approval_policy: readPolicy(typed) }),
    ...group(
      'retention',
      retentionKinds.filter((kind) => isChanged(`retention.${kind}`)),
      (kind) => toNull(typed[`retention.${kind}`], readWholeNumber),
    ),
    ...group(
      'default_quotas',
      quotaKindNames.filter((kind) => isChanged(`default_quotas.${kind}`)),
      (kind) => toLimits('default_quotas', typed)[kind] ?? null,
    ),
    ...group(
      'features',
      featureNames.filter(
        (name) => isChanged(`features.${name}.enabled`) || (isOff(name, typed) && isChanged(`features.${name}.reason`)),
      ),
      (name) =>
        isOff(name, typed) ? { enabled: false, reason: typed[`features.${name}.reason`]?.trim() } : { enabled: true },
    ),
  };
}

/** Whether a feature is turned off. Browsers do not send unchecked boxes. */
function isOff(name: FeatureName, typed: Typed): boolean {
  return typed[`features.${name}.enabled`] === '';
}

function toNull(text: string | undefined, read: (text: string) => unknown): unknown {
  return text === undefined || text.trim() === '' ? null : read(text);
}

function group<Name extends string>(name: string, members: readonly Name[], read: (member: Name) => unknown): object {
  if (members.length === 0) return {};
  return { [name]: Object.fromEntries(members.map((member) => [member, read(member)])) };
}

function readPolicy(typed: Typed): object {
  const part = (name: string) => typed[`default_approval_policy.${name}`];
  return {
    required: readWholeNumber(part('required') ?? ''),
    when: part('when'),
    allow_self: isYes(part('allow_self')),
  };
}

/** Adds the problems that the page itself finds in the typed settings. */
export function addSettingsProblems(visit: Visit, typed: Typed): void {
  visit.problems.push(...findLimitProblems('default_quotas', typed));
  addApprovalProblem(visit, typed, 'default_approval_policy');
  for (const name of featureNames)
    if (isOff(name, typed) && !typed[`features.${name}.reason`]?.trim())
      visit.addProblem(`features.${name}.reason`, `say why ${features[name].title} is off`);
  const unknown = Object.keys(readTools(typed['allowed_tools'] ?? '')).find((name) => !isTool(name));
  if (unknown === undefined) return;
  const known = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(allowableTools);
  visit.addProblem('allowed_tools', `there is no tool "${unknown}": name ${known}`);
}

function isTool(name: string): boolean {
  return allowableTools.some((known) => known === name);
}

/** Reads the version ranges of each tool. If a line has only a tool, all of its versions are allowed. */
function readTools(text: string): Record<string, string[]> {
  const lines = text.split('\n').flatMap((line) => line.trim() || []);
  const tools = new Map<string, string[]>();
  for (const line of lines) {
    const [name = '', range = allReleases] = line.split(/\s+(.*)/s);
    tools.set(name, [...(tools.get(name) ?? []), range]);
  }
  return Object.fromEntries(tools);
}
