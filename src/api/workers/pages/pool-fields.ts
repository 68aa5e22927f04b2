import { listPlaces, readListedOwners, readPlaceFields } from '#api/tenancy/pages/place-lists.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import type { Typed } from '#api/web/forms/form-page.ts';
import { readWords } from '#api/web/forms/word-list.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { defaultShares } from '#domain/workers/pools/model.ts';
import { isolationField } from './labels.ts';
import type { Pool } from './workers.ts';

/** The fields for the use of a pool. */
export async function readRuleFields(visit: Visit): Promise<FormField[]> {
  const hintOf = (noun: string) =>
    `The ${noun}s that may use it: one name per line. Leave empty for all ${noun}s, or enter none for no ${noun}.`;
  return [...(await readPlaceFields(visit, hintOf)), ...otherFields];
}

const otherFields: FormField[] = [
  isolationField,
  {
    name: 'egress.policy',
    label: 'Network access',
    kind: 'select',
    value: 'internet',
    choices: [
      { value: 'internet', label: 'The internet' },
      { value: 'allow', label: 'Only the hosts below' },
      { value: 'none', label: 'Nothing' },
    ],
  },
  {
    name: 'egress.allow',
    label: 'Allowed hosts',
    kind: 'area',
    isWordList: true,
    isOptional: true,
    hint: 'One per line, such as registry.opentofu.org, *.example.com or 10.0.0.0/8.',
  },
  {
    name: 'max_team_percent',
    label: 'Slots for one team, in percent',
    kind: 'number',
    min: 1,
    max: 100,
    value: String(defaultShares.maxTeamPercent),
    hint: 'Where several teams may use the pool. Min. one slot; 100 means no limit.',
  },
  {
    name: 'max_person_percent',
    label: 'Slots for one person, in percent',
    kind: 'number',
    min: 1,
    max: 100,
    value: String(defaultShares.maxPersonPercent),
    hint: 'The same, while more than one person wants slots.',
  },
];

/** The field values of an existing pool. */
export async function toTyped(visit: Visit, pool: Pool): Promise<Record<string, string>> {
  const { team_ids, environment_ids, isolation, egress, max_team_percent, max_person_percent } = pool;
  const list = (kind: 'team' | 'environment', ids: readonly string[] | null) =>
    ids?.length === 0 ? { [`${kind}_ids`]: 'none' } : listPlaces(visit, kind, ids ?? []);
  return {
    ...(await list('team', team_ids)),
    ...(await list('environment', environment_ids)),
    isolation: isolation ?? '',
    'egress.policy': egress.policy,
    'egress.allow': egress.allow.join('\n'),
    max_team_percent: String(max_team_percent),
    max_person_percent: String(max_person_percent),
  };
}

/** Reads the rules of a pool from what was typed. */
export async function toRules(visit: Visit, typed: Typed): Promise<Record<string, unknown>> {
  return {
    team_ids: await toIds(visit, typed, 'team'),
    environment_ids: await toIds(visit, typed, 'environment'),
    isolation: typed['isolation'] || null,
    egress: { policy: typed['egress.policy'], allow: readWords(typed['egress.allow']) },
    ...toPercent(typed, 'max_team_percent'),
    ...toPercent(typed, 'max_person_percent'),
  };
}

function toPercent(typed: Typed, name: string): Record<string, number> {
  const text = typed[name]?.trim();
  return text ? { [name]: Number(text) } : {};
}

/** The ids of a list; null if it is empty, which means all. */
async function toIds(visit: Visit, typed: Typed, kind: 'team' | 'environment'): Promise<string[] | null> {
  const isNone = typed[`${kind}_ids`]?.trim() === 'none';
  const ids = await readListedOwners(visit, kind, isNone ? { ...typed, [`${kind}_ids`]: '' } : typed);
  return ids.length === 0 && !isNone ? null : ids;
}
