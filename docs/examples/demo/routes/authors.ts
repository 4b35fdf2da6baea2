import { router } from 'framework'
import { Authors } from '../schemas.ts'

router.get('/authors', { responses: { 200: Authors }, cache: { ttl: 60, tags: ['books'] } }, async (req) => {
  const counts = new Map<string, number>()
  for (const { author } of await req.library.books()) counts.set(author, (counts.get(author) ?? 0) + 1)
  return [...counts].map(([name, books]) => ({ name, books }))
})
