import { contractClient } from 'framework/contract'
import { shop } from './contract.ts'

// apps/web/lib/shop.ts. The server of Next calls the API inside the network: browsers need not reach it.
const client = (baseUrl: string) => contractClient(shop, { baseUrl, timeout: 5_000 })

// apps/web/app/books/page.tsx: `export default async function Page() { const titles = await loadTitles(process.env.API_URL!) … }`
export async function loadTitles(api: string): Promise<string[]> {
  const answer = await client(api).listBooks()
  if (answer.status !== 200) throw new Error(`the API responded with ${answer.status}`)
  return answer.body.map(({ title }) => title)
}

// apps/web/app/books/actions.ts: a server action, with 'use server' at its top.
export async function addBook(api: string, form: FormData): Promise<string | undefined> {
  const answer = await client(api).addBook({ body: { title: String(form.get('title') ?? '') } })
  if (answer.status === 201) return undefined
  return 'A book needs a title'
}
