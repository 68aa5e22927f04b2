import { TestWorkflowEnvironment } from '@temporalio/testing';

/** Usage: node download-temporal.js <directory> <version>. Downloads the development server into the directory. */
const [downloadDir, version] = process.argv.slice(2);
const server = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir, version, ttl: '365 days' } },
});
await server.teardown();
