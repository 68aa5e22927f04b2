const { readFileSync } = require('node:fs');
const { join } = require('node:path');

/**
 * Who may import what: the table of folders in docs/architecture.md. `scripts/check-dependencies.js` runs this, and proves
 * on a planted violation that it reads anything at all.
 */
const mayImport = {
  'src/database': ['src/database', 'migrations'],
  'src/domain': ['src/domain', 'src/database', 'src/config'],
  'src/engine': ['src/engine', 'src/domain', 'src/database', 'src/config', 'src/workflows/[^/]+\\.contract\\.ts$'],
  'src/workflows': ['src/workflows', 'src/domain/.+/model\\.ts$', 'src/domain/shared/vocabulary/', 'src/activities/[^/]+\\.contract\\.ts$'],
  'src/executors': ['src/executors', 'src/domain'],
  'src/activities': ['src/activities', 'src/domain', 'src/database', 'src/executors', 'src/config', 'src/engine'],
  'src/worker': ['src/(worker|activities|domain|database|engine|executors|workflows|config|open-database)'],
  'src/api': ['src/api', 'src/domain', 'src/database', 'src/engine', 'src/config', 'src/open-database', 'src/workflows/[^/]+\\.contract\\.ts$'],
  'src/local': ['src/local', 'src/config'],
  migrations: ['migrations'],
};

const folderRules = Object.entries(mayImport).map(([folder, allowed]) => ({
  name: `${folder.replace('src/', '')}-imports-too-much`,
  severity: 'error',
  from: { path: `^${folder}/` },
  to: { path: '^(src|migrations|test|scripts)/', pathNot: `^(${allowed.join('|')})` },
}));

/** The folders of `src/executors`, and which others each may import besides itself. A new folder needs a line here. */
const executorsMayImport = {
  shared: [],
  egress: [],
  protocol: ['shared'],
  redaction: ['shared'],
  groups: ['shared'],
  processes: ['shared', 'groups'],
  output: ['shared', 'protocol', 'redaction'],
  sandbox: ['shared', 'groups', 'processes'],
  attempt: ['shared', 'protocol', 'redaction', 'processes', 'output', 'sandbox'],
  command: ['shared', 'protocol', 'redaction', 'sandbox', 'attempt'],
  opentofu: ['shared', 'protocol', 'redaction', 'sandbox', 'attempt'],
  modules: ['shared', 'egress', 'protocol', 'attempt'],
  host: [
    'shared',
    'egress',
    'modules',
    'protocol',
    'redaction',
    'groups',
    'processes',
    'output',
    'sandbox',
    'attempt',
    'command',
    'opentofu',
  ],
  client: ['shared', 'protocol', 'groups', 'processes'],
};

const executorRules = [
  ...Object.entries(executorsMayImport).map(([folder, allowed]) => ({
    name: `executors-${folder}-imports-too-much`,
    severity: 'error',
    from: { path: `^src/executors/${folder}/` },
    to: { path: '^src/executors/', pathNot: `^src/executors/(${[folder, ...allowed].join('|')})/` },
  })),
  {
    name: 'executors-folder-without-a-rule',
    severity: 'error',
    from: { path: '^src/executors/', pathNot: `^src/executors/(${Object.keys(executorsMayImport).join('|')})/` },
    to: {},
  },
];

/** The parts of the API that know no area. They lie in this order: each may import the ones before it. */
const apiLayers = ['edge', 'pipeline', 'web'];

/** The areas of `src/domain` in the order in which they stand on each other, as `src/domain/areas.ts` lists them. */
const domainAreas = readAreas(join(__dirname, 'src', 'domain', 'areas.ts'));

/** The keys of the object `areas` in a file, in their order. */
function readAreas(file) {
  const [, listed] = /^export const areas = \{\n([^}]*)^\}/m.exec(readFileSync(file, 'utf8')) ?? [];
  if (listed === undefined) throw new Error(`${file} has no object named areas`);
  return [...listed.matchAll(/^ {2}'?([\w-]+)'?[,:]/gm)].map(([, name]) => name);
}

/** The areas of `src/api` in the order of their operations, which know no pages. */
const operationsOrder = [
  ...['tenancy', 'settings', 'quotas', 'identity', 'organizations', 'teams', 'projects', 'service-accounts', 'members', 'invitations', 'audit'],
  ...['variables', 'workers', 'workload-identity', 'environments', 'holds', 'variable-sets', 'connections', 'runs', 'registry', 'instances'],
  ...['drift', 'assemblies', 'plugins', 'schedules', 'undo', 'webhooks', 'notification-channels', 'search', 'notifications'],
  ...['access-reviews', 'commands', 'document', 'system', 'team-setup', 'home', 'help'],
];

/** The same areas in the order of their pages. A page invokes operations of every area, and shows parts of the pages before it. */
const pagesOrder = [
  ...['tenancy', 'quotas', 'organizations', 'teams', 'members', 'invitations', 'audit', 'variables', 'workers', 'workload-identity', 'holds'],
  ...['variable-sets', 'connections', 'runs', 'environments', 'settings', 'projects', 'registry', 'drift', 'assemblies', 'plugins', 'schedules'],
  ...['identity', 'service-accounts', 'instances', 'undo', 'webhooks', 'notification-channels', 'search', 'notifications'],
  ...['access-reviews', 'commands', 'document', 'system', 'team-setup', 'home', 'help'],
];

/** The rules for areas of a part that stand in an order: none imports from those behind it. `files` are the files of each that the rules are about. */
function orderRules(name, { part, areas, files = '', others = '' }) {
  const ofAreas = (list) => `^src/${part}/(${list.join('|')})/${files}`;
  return [
    ...areas.slice(0, -1).map((area, index) => ({
      name: `${name}-${area}-imports-up`,
      comment: 'an area imports from the areas before it: move what both need down, or turn the call around',
      severity: 'error',
      from: { path: ofAreas([area]), ...(others && { pathNot: others }) },
      to: { path: ofAreas(areas.slice(index + 1)) },
    })),
    {
      name: `${name}-area-without-a-place`,
      severity: 'error',
      from: { path: `^src/${part}/[^/]+/${files}`, pathNot: ofAreas([...areas, ...apiLayers]) },
      to: {},
    },
  ];
}

const pageFile = '.*\\bpages\\b';
/** What an area declares: its operations and its pages; and the paths of these, which pages of all areas use. */
const manifest = '^src/api/[^/]+/area\\.ts$';
const pageList = '^src/api/[^/]+/page-list\\.ts$';
const areaRules = [
  ...orderRules('domain', { part: 'domain', areas: domainAreas }),
  ...orderRules('api', { part: 'api', areas: operationsOrder, others: pageFile }),
  ...orderRules('pages', { part: 'api', areas: pagesOrder, files: pageFile }),
  {
    name: 'operations-know-no-pages',
    severity: 'error',
    from: { path: '^src/api/[^/]+/', pathNot: [pageFile, manifest] },
    to: { path: `^src/api/(${pagesOrder.join('|')})/${pageFile}` },
  },
  {
    name: 'only-lists-of-areas-import-declarations',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/api/(areas|page-lists)\\.ts$' },
    to: { path: [manifest, pageList] },
  },
  {
    name: 'a-page-list-stands-below-all-pages',
    comment: 'pages of all areas are given the paths of all others, so that a list may not import what uses these',
    severity: 'error',
    from: { path: pageList },
    to: { path: '^src/', pathNot: '^src/api/(web/declarations/(page-list|path-patterns)|tenancy/page-confirmations)\\.ts$' },
  },
  {
    name: 'a-manifest-declares-its-own-area',
    severity: 'error',
    from: { path: '^src/api/([^/]+)/area\\.ts$' },
    to: { path: '^src/api/', pathNot: '^src/api/($1|web)/' },
  },
  {
    name: 'areas-know-no-lists-of-areas',
    comment: 'the tables and the registers that shared mechanisms read are made from all areas',
    severity: 'error',
    from: { path: '^src/(api|domain)/[^/]+/', pathNot: '^src/api/web/declarations/page-lists\\.ts$' },
    to: {
      path: '^src/(api|domain)/[^/]+\\.ts$',
      pathNot: '^src/(api/services|domain/(db|entities|error-codes|event-subscriptions|events|features|named-tables|ownership|searched-kinds|system-actions))\\.ts$',
    },
  },
  {
    name: 'area-ts-is-for-the-list-of-areas',
    comment: 'src/domain/areas.ts imports the area.ts of each area; others read the lists that are made from them',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/domain/areas\\.ts$' },
    to: { path: '^src/domain/[^/]+/area\\.ts$' },
  },
];

const frameworks = {
  database: '@mikro-orm|pg',
  engine: '@temporalio',
  web: 'fastify|@fastify|hono',
};

/** A folder that must not know a framework, and why. */
const frameworkRules = [
  ['domain', 'web', '^src/domain/', 'what the service knows is apart from how it is asked'],
  ['domain', 'engine', '^src/domain/', 'the outbox is all that the domain knows of the engine'],
  ['workflows', 'database', '^src/workflows/', 'workflows are deterministic and carry ids only'],
  ['workflows', 'web', '^src/workflows/', 'workflows are deterministic and carry ids only'],
  ['executors', 'database', '^src/executors/', 'template code never sits beside the database'],
  ['executors', 'engine', '^src/executors/', 'template code never sits beside the engine'],
  ['executors', 'web', '^src/executors/', 'the executor process speaks its own small protocol'],
  ['models', 'database', '^src/domain/.+/model\\.ts$', 'models are pure: states, rules and values'],
  ['local', 'database', '^src/local/', 'start stays small: commands of their own use the database'],
  ['local', 'engine', '^src/local/', 'start stays small: commands of their own use the engine'],
].map(([who, framework, from, comment]) => ({
  name: `${who}-without-${framework}`,
  comment,
  severity: 'error',
  from: { path: from },
  to: { path: `^node_modules/(${frameworks[framework]})(/|$)` },
}));

const apiLayerRules = apiLayers.map((layer, index) => ({
  name: `api-${layer}-imports-too-much`,
  comment: 'areas import the edge, the pipeline and the web; only the files of src/api itself import areas',
  severity: 'error',
  from: { path: `^src/api/${layer}/` },
  to: {
    path: '^src/api/',
    pathNot: [`^src/api/(${apiLayers.slice(0, index + 1).join('|')})/`, ...(layer === 'edge' ? [] : ['^src/api/services\\.ts$']),
      ...(layer === 'web' ? ['^src/api/page-lists\\.ts$'] : []),
    ],
  },
}));

/** All of the API but its process, which opens the database. */
const api = '^src/api/(?!main\\.ts$)';

/** The parts of the API that read nothing from stores. Areas still do: their lists and views call functions of a store. */
const withoutStores = `^src/api/(${apiLayers.join('|')})/|^src/api/(operations|pages|server|services)\\.ts$`;

const apiDataRules = [
  {
    name: 'api-without-statements',
    comment: 'an operation calls a function of the domain; biome.json lets Em and Orm pass through the API as types, and the edge tells errors of the database apart',
    severity: 'error',
    from: { path: api },
    to: { path: '^src/database/', pathNot: '^src/database/(database|errors)\\.ts$' },
  },
  {
    name: 'pages-without-permissions-of-roles',
    comment: 'a page asks visit.mayDo, or shows the actions of a resource, so that it decides as the operations do',
    severity: 'error',
    from: { path: '^src/api/(([^/]+/pages|web|home|search)/|pages\\.ts$)' },
    to: { path: '^src/domain/shared/access/permissions\\.ts$' },
  },
  {
    name: 'api-without-entities',
    comment: 'an operation calls a use case, and shows what it returns',
    severity: 'error',
    from: { path: api },
    to: { path: '^src/domain/.+/entity\\.ts$' },
  },
  {
    name: 'api-without-stores',
    comment: 'rate limits and the generation of an owner have no rules beyond their statements, so the edge and the pipeline call their stores',
    severity: 'error',
    from: { path: withoutStores },
    to: {
      path: '^src/domain/.+[/-]store\\.ts$',
      pathNot: '^src/domain/shared/(rate-counts/store|access/owner-generation-store)\\.ts$',
    },
  },
];

module.exports = {
  forbidden: [
    ...folderRules,
    ...executorRules,
    ...areaRules,
    ...frameworkRules,
    ...apiLayerRules,
    ...apiDataRules,
    {
      name: 'executors-know-models-only',
      comment: 'the executor process has no database, so entities and services are not for it',
      severity: 'error',
      from: { path: '^src/executors/' },
      to: { path: '^src/domain/.+/(entity|store|[^/]+-store|service|policy|targets)\\.ts$' },
    },
    {
      name: 'local-is-composition-only',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(local/|(main|command-line)\\.ts$)' },
      to: { path: '^src/local/' },
    },
    { name: 'resolves', severity: 'error', from: { path: '^(src|migrations)/' }, to: { couldNotResolve: true } },
    {
      name: 'no-development-tools-in-the-service',
      severity: 'error',
      from: { path: '^(src|migrations)/' },
      // Packages of types alone are gone at run time.
      to: { dependencyTypes: ['npm-dev'], pathNot: '(^|/)node_modules/(@types/|openapi-types/)' },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    // `node:` modules and packages are named by what follows from them, not read.
    exclude: { path: '^(dist|coverage)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.d.ts'],
    },
  },
};
