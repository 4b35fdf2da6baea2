import type { PluginNode } from '../../kernel/index.ts'
import { treeRows } from '../../kernel/inspect/tree.ts'
import { applicationFlags, applicationOf } from '../application/flags.ts'
import { columns } from '../columns.ts'
import { widthOf } from '../output.ts'
import { ownCommand } from '../run/own-command.ts'
import { quietly } from '../run/standard-output.ts'

export const plugins = ownCommand({
  details: `Boots the application, without listening, and closes it again. Times are milliseconds: of setup, of the hooks
for ready and close. Of options the names are shown; --json has the settings too, without secrets.`,
  flags: {
    ...applicationFlags,
    boot: { type: 'boolean', default: true, description: 'The tree as it is declared, without times' },
    close: { type: 'boolean', description: 'Closes the application before, for the time that takes too' },
    json: { type: 'boolean', description: 'As JSON' },
  },
  async run({ flags, print, note, boot }) {
    const { server } = await applicationOf(flags)
    if (flags.boot) {
      await boot(server)
      if (flags.close) await quietly(() => server.close())
    } else note('Not booted: what plugins register in their setup is left out.')
    const tree = flags.boot ? server.plugins : withoutTimes(server.plugins)
    print(flags.json ? JSON.stringify(tree, undefined, 2) : columns(treeRows(tree), widthOf(process.stdout)).join('\n'))
  },
})

/** What was measured before boot is of no use to anyone. */
const withoutTimes = (node: PluginNode): PluginNode => ({
  ...node,
  ms: { boot: 0, ready: 0, close: 0 },
  children: node.children.map(withoutTimes),
})
