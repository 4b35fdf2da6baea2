import { randomUUID } from 'node:crypto'
import { domainToASCII } from 'node:url'
import { builtPath } from '../shared/files/built-paths.ts'
import { readRegularFile } from '../shared/files/read-file.ts'
import { defined } from '../shared/values/json.ts'
import { addressesOf, addressOf, type CheckedAddresses, type NamedAddress, type Recipients } from './address.ts'
import { MailHeaderError, MailIncompleteError, MailTemplateError, reasonOf } from './errors.ts'
import { checkAttachment, checkHeader, checkText } from './header.ts'
import type { TemplateAdapter } from './templates/contract.ts'
import { type MailAttachment, type MailMessage, whyNoFile } from './transport.ts'

type Person = MailMessage['from']

interface Template {
  /** Its name in messages. */
  readonly what: string
  readonly data: object
  source(): string | Promise<string>
}

/**
 * Builds one email; the argument of the callback of `send` and `later`. Each method returns the builder; lists are
 * extended, everything else is replaced.
 */
export class MailBuilder {
  readonly #recipients: Record<'to' | 'cc' | 'bcc' | 'replyTo', Person[]> = { to: [], cc: [], bcc: [], replyTo: [] }
  readonly #headers: Record<string, string> = Object.create(null)
  readonly #attachments: MailMessage['attachments'] = []
  #from: Person | undefined
  #subject: string | undefined
  #html: string | undefined
  #text: string | undefined
  #template: Template | undefined
  #priority: MailMessage['priority']

  /** Adds recipients: one address, one with a name, or a list. */
  to<const Given extends Recipients>(recipients: CheckedAddresses<Given>): this {
    return this.#add('to', recipients)
  }

  /** Adds recipients of a copy, visible to all. */
  cc<const Given extends Recipients>(recipients: CheckedAddresses<Given>): this {
    return this.#add('cc', recipients)
  }

  /** Adds recipients of a copy, hidden from all others. */
  bcc<const Given extends Recipients>(recipients: CheckedAddresses<Given>): this {
    return this.#add('bcc', recipients)
  }

  /** Sets where replies go. */
  replyTo<const Given extends Recipients>(recipients: CheckedAddresses<Given>): this {
    return this.#add('replyTo', recipients)
  }

  /** Sets the sender, instead of the provider's. */
  from<const Given extends string | NamedAddress>(sender: CheckedAddresses<Given>): this {
    this.#from = addressOf('from', sender)
    return this
  }

  /**
   * Sets the subject. With `template` or `templateFile` it is also a template, with the same data; with EJS and Edge it may contain
   * only names, so that it runs no code.
   */
  subject(subject: string): this {
    this.#subject = checkText('the subject', subject)
    return this
  }

  /** Sets the body as HTML, sent as it is. */
  html(html: string): this {
    this.#html = textOf('html', html)
    return this
  }

  /** Sets the body as plain text. With `template` or `templateFile` it is also a template, like the subject. */
  text(text: string): this {
    this.#text = textOf('text', text)
    return this
  }

  /** Sets the body as HTML, rendered by the template adapter of the provider. */
  template<Data extends object>(template: string, data: Data): this {
    const source = textOf('template', template)
    this.#template = { what: 'the template', data: dataOf('template', data), source: () => source }
    return this
  }

  /** Sets the body as HTML from a template file, absolute or relative to the folder of the process. */
  templateFile<Data extends object>(file: string, data: Data): this {
    this.#template = {
      what: `the template ${textOf('templateFile', file)}`,
      data: dataOf('templateFile', data),
      source: async () => (await readRegularFile(builtPath(file))).toString('utf8'),
    }
    return this
  }

  /** Adds one attachment. */
  attachment(attachment: MailAttachment): this {
    this.#attachments.push(checkAttachment(attachment))
    return this
  }

  /** Adds several attachments. */
  attachments(attachments: readonly MailAttachment[]): this {
    for (const one of attachments) this.attachment(one)
    return this
  }

  /** Adds headers. Headers that the other methods write are refused. */
  headers(headers: { readonly [name: string]: string }): this {
    // Neither the `Headers` of fetch nor a Map: they have no own members, so their content would be lost.
    if (Object.prototype.toString.call(headers) !== '[object Object]')
      throw MailHeaderError('headers', 'takes an object of strings by name')
    for (const [name, value] of Object.entries(headers)) this.#headers[checkHeader(name, value)] = value
    return this
  }

  /** Sets how urgent the email is, as mail programs show it. Default normal. */
  priority(priority: 'high' | 'normal' | 'low'): this {
    if (!['high', 'normal', 'low'].includes(priority))
      throw MailHeaderError('the priority', 'is "high", "normal" or "low"')
    this.#priority = priority
    return this
  }

  #add(list: 'to' | 'cc' | 'bcc' | 'replyTo', recipients: unknown): this {
    this.#recipients[list].push(...addressesOf(list, recipients))
    return this
  }

  /** Checks that nothing is missing, and renders the mail. @internal */
  async finish(sender: Person, adapter: TemplateAdapter | undefined): Promise<MailMessage> {
    const { to, cc, bcc } = this.#recipients
    if (to.length === 0) throw MailIncompleteError('recipient', 'to("ada@example.org")')
    checkSubject(this.#subject)
    const why = await whyNoFile(this.#attachments)
    if (why !== undefined) throw MailHeaderError("the attachment's path", `is not usable: ${why}`)
    const from = this.#from ?? sender
    const all = [...to, ...cc, ...bcc].map(({ address }) => address)
    return {
      messageId: messageIdFor(from.address),
      from,
      ...this.#recipients,
      ...(await this.#render(adapter)),
      headers: this.#headers,
      ...defined({ priority: this.#priority }),
      attachments: this.#attachments,
      envelope: { from: from.address, to: [...new Set(all)] },
      disableFileAccess: this.#attachments.every(({ path }) => path === undefined),
      disableUrlAccess: true,
    }
  }

  async #render(adapter: TemplateAdapter | undefined): Promise<Pick<MailMessage, 'subject' | 'html' | 'text'>> {
    const plain = this.#text
    if (this.#template === undefined) return { subject: this.#subject!, ...defined({ html: this.#html, text: plain }) }
    if (adapter === undefined)
      throw MailTemplateError('the template', 'its provider needs a templateAdapter, such as new MustacheAdapter()')
    const { what, data } = this.#template
    const source = await rendering(what, this.#template.source)
    // Subjects and texts are written in code, where user input easily gets into them: never a program, whatever the engine.
    const inNames = (template: string) =>
      adapter.renderNames === undefined ? adapter.render(template, data, 'text') : adapter.renderNames(template, data)
    const html = await rendering(what, () => adapter.render(source, data, 'html'))
    const subject = await rendering('the subject', () => inNames(this.#subject!))
    const text = plain === undefined ? undefined : await rendering('the text', () => inNames(plain))
    // The data may contain characters that the template does not.
    checkSubject(subject)
    return { subject, ...defined({ html, text }) }
  }
}

function checkSubject(subject: string | undefined): void {
  if (subject === undefined || checkText('the subject', subject).trim() === '')
    throw MailIncompleteError('subject', 'subject("…")')
}

/** Makes a message id, which may contain only ASCII (RFC 5322, section 3.6.4). */
function messageIdFor(address: string): string {
  const host = domainToASCII(address.slice(address.lastIndexOf('@') + 1)) || 'localhost'
  return `<${randomUUID()}@${host}>`
}

function textOf(method: string, text: unknown): string {
  if (typeof text !== 'string')
    throw MailTemplateError(method, `it takes text, not ${text === null ? 'null' : typeof text}`)
  return text
}

function dataOf(method: string, data: unknown): object {
  if (typeof data !== 'object' || data === null)
    throw MailTemplateError(method, 'its second argument is the data, an object')
  return data
}

async function rendering(what: string, render: () => string | Promise<string>): Promise<string> {
  try {
    return textOf('the result', await render())
  } catch (error) {
    // A missing package has an error of its own.
    if ((error as { code?: unknown })?.code === 'PeerMissingError') throw error
    const { line } = (error ?? {}) as { line?: unknown }
    const where = typeof line === 'number' ? `${what}, line ${line},` : what
    throw Object.assign(MailTemplateError(where, reasonOf(error)), { cause: error })
  }
}
