import { ensureBrowser } from './setup/browser.js';
import { ensureBuild } from './setup/build.js';
import { ensureClientTools } from './setup/client-tools.js';
import { ensureDependencies } from './setup/dependencies.js';
import { SetupError } from './setup/errors.js';
import { endWithParent } from './setup/programs.js';
import { ensureProviders } from './setup/providers.js';
import { ensureSandbox } from './setup/sandbox.js';
import { ensureTemporal } from './setup/temporal.js';
import { ensureTemporalCluster } from './setup/temporal-cluster.js';
import { ensureTofu } from './setup/tofu.js';

/**
 * Installs everything that `npm start`, `npm test` and the longer proofs need: the dependencies (including Node 24), a
 * Temporal server and, for tests, a browser. Builds the service. Runs on Node 18 or later, before anything is installed. Does nothing if
 * everything is installed.
 */
async function setUp(purpose) {
  if (Number.parseInt(process.versions.node, 10) < 18) {
    throw new SetupError(`Node ${process.versions.node} is too old: install Node 20 or later.`);
  }
  if (process.platform === 'win32') {
    throw new SetupError('Windows is not supported directly: use the Windows Subsystem for Linux.');
  }
  endWithParent();
  await ensureDependencies();
  if (purpose === 'build') return ensureBuild();
  await ensureSandbox(purpose);
  if (purpose === 'bench' || purpose === 'containers') await ensureTemporalCluster();
  if (purpose === 'bench' || purpose === 'test') await ensureProviders();
  if (purpose !== 'bench' && !(purpose === 'start' && process.env.TEMPORAL_ADDRESS)) await ensureTemporal();
  if (purpose !== 'containers') await ensureBuild();
  if (purpose === 'test') {
    await ensureBrowser();
    await ensureTofu();
    await ensureClientTools();
  }
}

try {
  await setUp(process.argv[2] ?? 'start');
} catch (error) {
  console.error(error instanceof SetupError ? error.message : error);
  process.exit(1);
}
// The timer that watches the parent would keep the process alive.
process.exit(0);
