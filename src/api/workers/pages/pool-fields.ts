import type { FormField } from '#api/web/forms/form.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import type { Pool } from './workers.ts';

/** The fields of what a pool may be used for. */
export const ruleFields: FormField[] = [
  {
    name: 'team_ids',
    label: 'Teams',
    kind: 'area',
    isOptional: true,
    hint: 'Ids of the teams that may use it, one in a line. Empty: all teams. The word none: no team.',
  },
  {
    name: 'environment_ids',
    label: 'Environments',
    kind: 'area',
    isOptional: true,
    hint: 'Ids, one in a line. Empty: all environments. The word none: no environment.',
  },
  {
    name: 'isolation',
    label: 'Workers',
    kind: 'select',
    choices: [
      { value: '', label: 'Any worker executes its runs' },
      { value: 'sandbox', label: 'Only workers with a sandbox' },
    ],
  },
  {
    name: 'egress.policy',
    label: 'Template code reaches',
    kind: 'select',
    value: 'internet',
    choices: [
      { value: 'internet', label: 'The internet' },
      { value: 'allow', label: 'Only the places below' },
      { value: 'none', label: 'Nothing' },
    ],
  },
  {
    name: 'egress.allow',
    label: 'Named places',
    kind: 'area',
    isOptional: true,
    hint: 'One in a line, such as registry.opentofu.org:443 or 10.0.0.0/8.',
  },
];

/** What the fields say of a pool that exists. */
export function toTyped({ team_ids, environment_ids, isolation, egress }: Pool): Record<string, string> {
  const list = (ids: readonly string[] | null) => (ids === null ? '' : ids.length === 0 ? 'none' : ids.join('\n'));
  return {
    team_ids: list(team_ids),
    environment_ids: list(environment_ids),
    isolation: isolation ?? '',
    'egress.policy': egress.policy,
    'egress.allow': egress.allow.join('\n'),
  };
}

/** The rules of a pool, from what was typed. */
export function toRules(typed: Typed): Record<string, unknown> {
  const lines = (name: string) => (typed[name] ?? '').split(/\s+/).filter(Boolean);
  const ids = (name: string) => {
    const named = lines(name);
    if (named.length === 0) return null;
    return named.length === 1 && named[0] === 'none' ? [] : named;
  };
  return {
    team_ids: ids('team_ids'),
    environment_ids: ids('environment_ids'),
    isolation: typed['isolation'] || null,
    egress: { policy: typed['egress.policy'], allow: lines('egress.allow') },
  };
}
