import { anyText, boolean, fileContent, host, type Setting, textLike } from './config-values.ts';

/** The settings of the connection to Temporal. */
export const temporalSettings = {
  TEMPORAL_ADDRESS: {
    schema: textLike(/^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):\d{1,5}$/, 'host:port, for example temporal:7233'),
    default: null,
    description: 'host:port of the Temporal server. Default: `start` runs a development server.',
  },
  TEMPORAL_NAMESPACE: {
    schema: textLike(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}$/, 'the name of a Temporal namespace'),
    default: 'default',
    description: 'Temporal namespace of this installation.',
  },
  TEMPORAL_API_KEY: {
    schema: anyText,
    default: null,
    isSecret: true,
    description: 'API key for Temporal Cloud. It turns on TLS.',
  },
  TEMPORAL_TLS: {
    schema: boolean,
    default: null,
    description: 'Whether to use TLS with Temporal. Default: TLS is used if a certificate or an API key is set.',
  },
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: {
    schema: fileContent,
    default: null,
    description: "PEM file of the authority that signed the Temporal server's certificate.",
  },
  TEMPORAL_TLS_SERVER_NAME: {
    schema: host,
    default: null,
    description: "Name that the Temporal server's certificate must have.",
  },
  TEMPORAL_TLS_CLIENT_CERT_PATH: {
    schema: fileContent,
    default: null,
    description: 'PEM file of the client certificate for Temporal.',
  },
  TEMPORAL_TLS_CLIENT_KEY_PATH: {
    schema: fileContent,
    default: null,
    description: "PEM file of the client certificate's private key.",
  },
} as const satisfies Record<string, Setting>;
