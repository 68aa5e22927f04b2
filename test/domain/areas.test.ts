import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { areas } from '#domain/areas.ts';
import { entities } from '#domain/entities.ts';
import { errorCodes } from '#domain/error-codes.ts';
import { eventTypes } from '#domain/events.ts';
import { features } from '#domain/features.ts';
import { namedTables } from '#domain/named-tables.ts';
import { declarations } from '#domain/ownership.ts';
import { monthlyRetentions } from '#domain/retention.ts';
import { candidatesByKind } from '#domain/searched-kinds.ts';
import { systemActions } from '#domain/system-actions.ts';

const folders = readdirSync('src/domain', { withFileTypes: true }).filter((each) => each.isDirectory());
const exported = Object.values<Record<string, unknown>>(areas);

test('src/domain/areas.ts lists every folder of src/domain', () => {
  expect(Object.keys(areas).sort()).toEqual(folders.map(({ name }) => name).sort());
});

test('an area.ts exports only the parts that src/domain makes lists from', () => {
  const known = [
    'entities',
    'errorCodes',
    'events',
    'features',
    'named',
    'ownership',
    'retention',
    'sealed',
    'searched',
    'subscriptions',
    'systemActions',
  ];
  expect([...new Set(exported.flatMap((area) => Object.keys(area)))].sort()).toEqual(known);
});

test('no two areas declare the same entity, event, error code, feature or other name', () => {
  const lists = [entities.map(({ name }) => name), declarations.map(({ kind }) => kind)];
  for (const names of lists) expect(new Set(names).size).toBe(names.length);
  for (const [part, merged] of Object.entries({
    errorCodes,
    events: eventTypes,
    features,
    systemActions,
    searched: candidatesByKind,
    named: namedTables,
    retention: monthlyRetentions,
  })) {
    const names = exported.flatMap((area) => Object.keys(area[part] ?? {}));
    expect(Object.keys(merged).sort(), part).toEqual(names.sort());
  }
});
