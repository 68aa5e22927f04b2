import { installPackages } from './debian.js';
import { findProgram, tryProgram } from './programs.js';

/** The first version of bubblewrap with every option that the sandboxes use. */
const leastVersion = [0, 8, 0];

/**
 * Installs the programs that contain template code, if it can (as root on Debian): bubblewrap, and socat, which forwards a
 * sandbox's connections to the executor host. If it cannot, it says so, except for `start`, which runs templates
 * uncontained and says so itself.
 */
export async function ensureSandbox(purpose) {
  if (process.platform !== 'linux') return;
  const missing = [];
  if (!isRecent()) missing.push('bubblewrap');
  if (findProgram('socat') === null) missing.push('socat');
  if (missing.length === 0) return;
  const isInstalled = await installPackages(`Installing ${missing.join(' and ')} for sandboxes`, missing);
  if ((isInstalled && isRecent()) || purpose === 'start') return;
  console.error(
    'Sandboxes for templates need bubblewrap 0.8 or later, and socat: install them (Debian: apt-get install bubblewrap socat).',
  );
}

function isRecent() {
  const program = findProgram('bwrap');
  const said = program === null ? null : tryProgram([program, '--version']);
  const found = /(\d+)\.(\d+)\.(\d+)/
    .exec(said ?? '')
    ?.slice(1)
    .map(Number);
  if (!found) return false;
  const difference = found.map((part, index) => part - leastVersion[index]).find((part) => part !== 0) ?? 0;
  return difference >= 0;
}
