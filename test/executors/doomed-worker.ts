import { RecordingSink, runScript } from './support.ts';

/** A worker for tests that kill it: prints where its attempt is as soon as that runs, then waits. */
const [workRoot = '', seconds = ''] = process.argv.slice(2);
const sink = new RecordingSink();
const script = `setsid sleep ${seconds} & (env -i setsid sleep ${seconds} &); dirname "$PWD"; trap '' INT TERM; sleep ${seconds}`;
const running = runScript(workRoot, script, {}, sink);
await sink.saw('/');
process.stdout.write(sink.text('stdout'));
await running;
