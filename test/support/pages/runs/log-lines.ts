import type { ResourceChange } from '#domain/runs/plans/model.ts';
import type { RunStory } from './stories/story.ts';

/** What tools print about runs, with their colours. */

const csi = '\u001b[';
const bold = (text: string) => `${csi}1m${text}${csi}0m`;
const red = (text: string) => `${csi}31m${text}${csi}0m`;
const green = (text: string) => `${csi}32m${text}${csi}0m`;
const yellow = (text: string) => `${csi}33m${text}${csi}0m`;
const dim = (text: string) => `${csi}90m${text}${csi}0m`;

const symbols: Record<ResourceChange['action'], string> = {
  create: green('+'),
  update: yellow('~'),
  delete: red('-'),
  replace: `${red('-')}/${green('+')}`,
  read: bold('<='),
  forget: red('.'),
  'no-op': ' ',
};
const verbs: Record<ResourceChange['action'], readonly [string, string]> = {
  create: ['Creating', 'Creation'],
  update: ['Modifying', 'Modifications'],
  delete: ['Destroying', 'Destruction'],
  replace: ['Creating', 'Creation'],
  read: ['Reading', 'Read'],
  forget: ['Removing', 'Removal'],
  'no-op': ['Refreshing', 'Refresh'],
};

/** A plan names at most this many changes in its log. */
const maxNamed = 400;

export function planLines({ changes, place }: RunStory): string[] {
  const refreshed = place.resources.map(
    ({ type, name }) => `${bold(`${type}.${name}: Refreshing state...`)} ${dim(`[id=${place.name}]`)}`,
  );
  const named = changes.slice(0, maxNamed);
  const count = (...actions: string[]) => changes.filter(({ action }) => actions.includes(action)).length;
  const planned = named.flatMap(({ address, action }) => [
    '',
    bold(`  # ${address} will be ${action}d`),
    `  ${symbols[action]} resource`,
    ...Array.from(
      { length: 3 },
      (_, index) => `      ${symbols[action]} attribute_${index} = ${dim('(known after apply)')}`,
    ),
  ]);
  return [
    'Initializing the backend...',
    'Initializing provider plugins...',
    '- Installing hashicorp/aws v6.21.0...',
    `- Installed hashicorp/aws v6.21.0 ${dim('(signed, key ID 0C0AF313E5FD9F80)')}`,
    '',
    ...refreshed,
    ...planned,
    '',
    bold(
      `Plan: ${count('create', 'replace')} to add, ${count('update')} to change, ${count('delete', 'replace')} to destroy.`,
    ),
  ];
}

export function applyLines({ changes, status, reason }: RunStory): string[] {
  const shown = changes.slice(0, maxNamed);
  const begun = shown.map(({ address, action }) => `${bold(address)}: ${verbs[action][0]}...`);
  const ended = shown.map(
    ({ address, action }, index) => `${bold(address)}: ${verbs[action][1]} complete after ${(index % 40) + 1}s`,
  );
  const waiting = shown
    .slice(0, 3)
    .flatMap(({ address, action }) =>
      [10, 20, 30].map((seconds) => `${address}: Still ${verbs[action][0]?.toLowerCase()}... [${seconds}s elapsed]`),
    );
  if (status === 'failed')
    return [...begun, ...waiting, ...ended.slice(0, -1), ...failureLines(changes.at(-1)?.address ?? 'a step', reason)];
  if (status !== 'succeeded') return [...begun, ...waiting];
  return [...begun, ...waiting, ...ended, '', green(bold(`Apply complete! Resources: ${changes.length} changed.`))];
}

export function failureLines(address: string, reason: string | null): string[] {
  const bar = red('│');
  return [
    red('╷'),
    `${bar} ${red(bold('Error:'))} ${bold(`creating ${address}: operation error: https response error StatusCode: 403`)}`,
    `${bar}`,
    `${bar}   with ${address},`,
    `${bar}   on modules/this/main.tf line 41, in resource:`,
    `${bar}   41: resource ${dim('"…"')} {`,
    `${bar}`,
    `${bar} AccessDenied: User: arn:aws:sts::111122223333:assumed-role/deploy is not authorized to perform this action`,
    `${bar} because no identity-based policy allows it (${reason ?? 'unknown'})`,
    red('╵'),
  ];
}
