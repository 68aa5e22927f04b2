import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { evaluationErrorCodes, reasonCodes } from '#api/access-reviews/access-review.ts';
import { errorsOf } from '#api/document/errors.ts';
import { createAdminServer } from '#api/edge/admin/admin-server.ts';
import { health } from '#api/edge/admin/health.ts';
import { createMetricsRegistry } from '#api/edge/admin/metrics.ts';
import { Readiness } from '#api/edge/admin/readiness.ts';
import { docsPath } from '#api/edge/docs/docs.ts';
import { jsonBodyLimit } from '#api/edge/json/strict-json.ts';
import { operations } from '#api/operations.ts';
import * as pageLists from '#api/page-lists.ts';
import { routeOf } from '#api/pipeline/operation.ts';
import { errorCodes } from '#domain/error-codes.ts';
import { sessionLifetimeSeconds } from '#domain/identity/model.ts';
import { Password } from '#domain/identity/passwords/rules.ts';
import { rolePermissions } from '#domain/shared/access/permissions.ts';
import { organizationRoles, platformRoles, teamActions, teamRoles } from '#domain/shared/vocabulary/roles.ts';
import { runStatuses, terminalStatuses } from '#domain/shared/vocabulary/runs.ts';
import { createEdgeApp } from '#test/support/api/edge-app.ts';
import { readMarkdown, tableUnder } from './markdown.ts';

const page = 'docs/specification.md';
const text = readMarkdown(page);
const names = (cell = '') => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
/** A path without the names of its parameters, which need not be those of the code. */
const toShape = (path: string) => path.replace(/:\w+|\{\w+\}/g, '{}');

const routes = operations.map((operation) => ({ ...routeOf(operation), operation }));
const routeShapes = new Set(routes.map(({ method, path }) => `${method} ${toShape(path)}`));
const pageShapes = new Set(
  Object.values(pageLists).flatMap((list) =>
    'pages' in list ? Object.values(list.pages).map(String).map(toShape) : [],
  ),
);

describe('a path that the specification names', () => {
  it('is that of an operation or a page', () => {
    const prefix = '/api/v1';
    const operational = tableUnder(page, '### Operational endpoints (outside /api/v1)').flatMap(([cell]) =>
      names(cell),
    );
    const known = new Set([
      ...routes.map(({ path }) => toShape(path)),
      ...pageShapes,
      ...operational,
      docsPath,
      prefix,
    ]);
    const named = [...text.matchAll(/`(?:[A-Z]+ )?(\/[\w/{}.-]*)`/g)].map(([, path = '']) => toShape(path));
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((path) => !known.has(path))).toEqual([]);
  });

  it('has the method that the specification gives it', () => {
    const rows = [...text.matchAll(/^\| (GET|POST|PUT|DELETE) \| ([^|]+) \|/gm)];
    const inTables = rows.flatMap(([, method, cell]) => names(cell).map((path) => `${method} ${toShape(path)}`));
    const inProse = [...text.matchAll(/`((?:GET|POST|PUT|DELETE) \/[^`]+)`/g)].map(([, route = '']) => toShape(route));
    expect(inTables.length).toBeGreaterThan(35);
    const missing = [...inTables, ...inProse].filter((route) => {
      const path = route.slice(route.indexOf(' ') + 1);
      return !routeShapes.has(route) && !pageShapes.has(path) && path !== docsPath;
    });
    expect(missing).toEqual([]);
  });

  it('is served by the API or the admin listener if it is operational', async () => {
    const readiness = new Readiness([]);
    const { app: api } = await createEdgeApp(async (app) => void (await app.register(health, { readiness })));
    const registry = createMetricsRegistry();
    const admin = await createAdminServer({ logger: pino({ level: 'silent' }), readiness, versions: {}, registry });
    try {
      const paths = tableUnder(page, '### Operational endpoints (outside /api/v1)').flatMap(([cell]) => names(cell));
      expect(paths).toHaveLength(5);
      const isServed = (url: string) => [api, admin].some((app) => app.hasRoute({ method: 'GET', url }));
      expect(paths.filter((path) => !isServed(path))).toEqual([]);
    } finally {
      await Promise.all([api.close(), admin.close()]);
    }
  });
});

describe('an endpoint with an Idempotency-Key', () => {
  it('requires the key if the specification says so', () => {
    const rows = [...text.matchAll(/^\| (GET|POST|PUT|DELETE) \| `([^`]+)` \| .*`Idempotency-Key`.*\|$/gm)];
    expect(rows.length).toBe(7);
    for (const [, method, path = ''] of rows) {
      const operation = operations.find((each) => toShape(each.route) === `${method} ${toShape(path)}`);
      expect([path, operation?.idempotency]).not.toEqual([path, 'none']);
    }
  });
});

describe('docs/specification.md', () => {
  it('names the statuses of runs that the code has', () => {
    const rows = tableUnder(page, '### Run status').map(([status, kind]) => [names(status)[0], kind]);
    const terminal: readonly string[] = terminalStatuses;
    const known = runStatuses.map((status) => [status, terminal.includes(status) ? 'terminal' : 'nonterminal']);
    expect(rows.sort()).toEqual(known.sort());
  });

  it('names the codes of access reviews, and one removed code', () => {
    const codes = tableUnder(page, '#### Response').flatMap((cells) => names(cells.at(-1)).slice(1));
    expect(codes.sort()).toEqual([...reasonCodes, ...evaluationErrorCodes].sort());
    expect(text).toContain('`credential_unavailable`');
    expect(errorCodes).not.toHaveProperty('credential_unavailable');
  });

  it('names permissions and team actions that the code has', () => {
    const named = names(text).filter((name) => /^(?!resource:)\w+:\w+$|^settings\.manage$/.test(name));
    expect(new Set(named).size).toBeGreaterThan(30);
    expect(named.filter((name) => !(rolePermissions.admin as ReadonlySet<string>).has(name))).toEqual([]);
    const actions = names(text).filter((name) => name.startsWith('team.'));
    expect([...new Set(actions)].sort()).toEqual([...teamActions].sort());
  });

  it('names the roles that the code has', () => {
    const lists = [...text.matchAll(/^- The \*\*(\w+) roles\*\* are (.*)\.$/gm)];
    const byKind = Object.fromEntries(lists.map(([, kind, list]) => [kind, names(list).sort()]));
    expect(byKind).toEqual({
      platform: [...platformRoles].sort(),
      organization: [...organizationRoles].sort(),
      team: [...teamRoles].sort(),
    });
    const rolesUnder = (heading: string) => tableUnder(page, heading).map(([role]) => names(role)[0]);
    expect(rolesUnder('#### Platform roles').sort()).toEqual([...platformRoles].sort());
    expect(rolesUnder('#### Team roles and actions')).toEqual([...teamRoles]);
  });

  it('names statuses with which operations answer', () => {
    const named = tableUnder(page, '## Errors').map(([status]) => status);
    const answered = operations.flatMap((each) => [...Object.keys(each.responses), ...Object.keys(errorsOf(each))]);
    expect(named.filter((status) => !answered.includes(status ?? ''))).toEqual([]);
  });

  it('states the limits that the code sets', () => {
    const limits = tableUnder(page, '## Limits').map(([, value]) => value);
    expect(limits[0]).toBe(`${jsonBodyLimit / 1024 ** 2} MiB`);
    expect(limits[1]).toBe(`${sessionLifetimeSeconds / 3600} hours`);
    const { error } = Password.safeParse('seven77');
    expect(error?.issues[0]?.message).toBe(`must have ${limits[2]}`);
  });

  it('names settings that docs/configuration.md has', () => {
    const settings = names(text).filter((name) => /^[A-Z]+(_[A-Z]+)+$/.test(name));
    expect(settings.length).toBeGreaterThan(0);
    const known = names(readMarkdown('docs/configuration.md'));
    expect(settings.filter((name) => !known.includes(name))).toEqual([]);
  });
});
