/** The example that the editor shows before anybody saves a draft, if the team has no template for one. */
export const emptyDraft = `# What a run is asked for, as JSON Schema.
variables:
  type: object
  properties:
    name: {type: string}

# Each node deploys a template. References make it wait for other nodes.
nodes:
  network:
    template: network
    variables:
      name: \${variables.name}
  service:
    template: service
    variables:
      subnet: \${nodes.network.outputs.subnet}
    # approval: {required: 1}

outputs:
  address: \${nodes.service.outputs.address}
`;
