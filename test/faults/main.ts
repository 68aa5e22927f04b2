import { parseArgs } from 'node:util';
import { blowNames } from './blows.ts';
import { runCycles } from './cycles.ts';

/** `npm run test:faults -- --seed 42 --cycles 50`: prints what it does, and ends with 1 where something did not hold. */
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    cycles: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '60' },
    blow: { type: 'string', multiple: true },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const named = (values.blow ?? []).map((name) => {
  const found = blowNames.find((each) => each === name);
  if (found === undefined) throw new Error(`There is no blow "${name}"; there are: ${blowNames.join(', ')}.`);
  return found;
});

console.log(`seed ${seed}`);
const report = await runCycles({
  seed,
  cycles: Number(values.cycles),
  atMostMs: Number(values.minutes) * 60_000,
  ...(named.length > 0 && { blows: named.map((name) => [name]) }),
  report: (line) => console.log(line),
});
console.log(JSON.stringify({ seed, ...report, faults: report.faults.length }, null, 2));
for (const fault of report.faults) console.log(`FAULT ${fault}`);
console.log(
  report.faults.length === 0 ? 'Everything held.' : `Seed ${seed} broke it; logs are kept in ${report.directory}.`,
);
process.exit(report.faults.length === 0 ? 0 : 1);
