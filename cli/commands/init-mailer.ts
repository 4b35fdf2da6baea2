import { cancelled, oneOf } from '../prompts/ask.ts'
import { ownCommand } from '../run/own-command.ts'
import { mailer, mailKinds } from '../scaffold/kinds/mailer.ts'
import { generateFlags, scaffold } from '../scaffold/scaffold.ts'

export const initMailer = ownCommand({
  details: `Writes src/mailer.ts: the options of the mailer and an email; its template; and a test that sends the email in memory. Without
--type the command asks for it.`,
  flags: {
    type: { type: 'string', short: 't', value: mailKinds.join('|'), description: 'The template engine' },
    ...generateFlags,
  },
  async run(input) {
    const kind = await oneOf('--type', input.flags.type, mailKinds)
    if (kind === undefined) return cancelled(input.note)
    scaffold(input, '', (place) => mailer(place, kind))
    return 0
  },
})
