import { definePlugin } from 'framework'

export const slowTools = definePlugin({
  name: 'slow-tools',
  openapi: { tags: [{ name: 'slow', description: 'Which requests take long' }] },
  commands: async () => [
    {
      name: 'slow-report',
      description: 'Prints the slow requests of a running server',
      arguments: [{ name: 'url', required: true }],
      flags: { key: { type: 'string', description: 'The key of the report' } },
      async run({ arguments: { url }, flags }) {
        const res = await fetch(`${url}/slow`, { headers: { authorization: `Bearer ${flags.key}` } })
        console.log(res.ok ? await res.json() : `the server answered ${res.status}`)
        return res.ok ? 0 : 1
      },
    },
  ],
})
