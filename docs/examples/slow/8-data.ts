import { defineCommand, definePlugin } from 'framework'

export const slowTools = definePlugin({
  name: 'slow-tools',
  openapi: { tags: [{ name: 'slow', description: 'Which requests take long' }] },
  commands: async () => [
    defineCommand({
      name: 'slow-report',
      description: 'Prints the slow requests of a running server',
      arguments: [{ name: 'url', required: true }],
      flags: { key: { type: 'string', description: 'The key of the report' } },
      async run({ arguments: { url }, flags, print, note }) {
        const res = await fetch(`${url}/slow`, { headers: { authorization: `Bearer ${flags.key}` } })
        if (!res.ok) {
          note(`the server answered ${res.status}`)
          return 1
        }
        print(JSON.stringify(await res.json()))
        return 0
      },
    }),
  ],
})
