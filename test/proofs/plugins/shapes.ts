import type { Declarations } from './model/registry.ts';
import type { PlaceType } from './model/tenants.ts';

const everywhere: readonly PlaceType[] = [
  ...(['resource', 'project', 'environment', 'team'] as const),
  ...(['organization', 'organization_descendants'] as const),
];
const narrow: readonly PlaceType[] = ['team', 'resource'];
const executions = { nightly: 'zone.sync' };

/** A kind of release: what it declares, and how its manifest differs from that of all tests. */
interface Shape {
  readonly declares: Declarations;
  readonly changes: object;
}

const onlySync = [{ name: 'zone.sync', selectors: everywhere, effects: [] }];

/** The releases differ in their actions, in their executions, and in whether they declare zones. */
export const shapes: readonly Shape[] = [
  {
    declares: { actions: { 'zone.sync': everywhere, 'zone.read': narrow }, executions, declaresZones: true },
    changes: {},
  },
  {
    declares: { actions: { 'zone.sync': everywhere }, executions, declaresZones: true },
    changes: { actions: onlySync },
  },
  {
    declares: { actions: { 'zone.sync': everywhere, 'zone.read': narrow }, executions: {}, declaresZones: true },
    changes: { executions: [] },
  },
  {
    declares: { actions: { 'zone.sync': everywhere, 'zone.read': narrow }, executions, declaresZones: false },
    changes: { resources: [] },
  },
];
