import { z } from 'zod';
import { Certificates, canBeUrl, defineKind, field, Secret } from './kind.ts';

const expected = { error: 'expected the https:// URL of the API server, such as "https://cluster.example.com:6443"' };
const Server = z
  .string()
  .max(2_000)
  .regex(/^https:\/\/[^\s@?#]+$/, expected)
  .refine(canBeUrl, expected);

const Config = z.strictObject({
  server: field(Server, 'API server', 'Its URL, such as https://cluster.example.com:6443.'),
  ca: field(
    Certificates.optional(),
    'Certificate authorities',
    "The cluster's authorities in PEM; the public ones unless given.",
  ),
  namespace: field(
    z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, { error: 'expected a name such as "team-a"' })
      .optional(),
    'Namespace',
    'Where the tools work unless a template says otherwise.',
  ),
});

/** Provides access to a Kubernetes cluster: the tools find a kubeconfig by KUBECONFIG and KUBE_CONFIG_PATH. */
export const kubernetes = defineKind({
  summary: 'Reach a Kubernetes cluster.',
  config: Config,
  credentials: z.strictObject({ token: field(Secret, 'Token', 'Of a service account of the cluster.') }),
  urls: ({ server }) => [server],
  deliver: ({ server, ca, namespace }, { token }) => {
    const name = 'connection';
    const authorities = ca && { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
    const context = { cluster: name, user: name, ...(namespace && { namespace }) };
    const kubeconfig = {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name, cluster: { server, ...authorities } }],
      users: [{ name, user: { token } }],
      contexts: [{ name, context }],
      'current-context': name,
    };
    // Every JSON document is a YAML document.
    const text = JSON.stringify(kubeconfig);
    return { variables: {}, files: { KUBECONFIG: text, KUBE_CONFIG_PATH: text } };
  },
});
