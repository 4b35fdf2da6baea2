import { router } from 'framework'
import { member } from '../middlewares/member.ts'
import { receiptQueue } from '../plugins/receipts.ts'
import { policies } from '../policies.ts'
import { Loan, NewLoan } from '../schemas.ts'

const own = { policy: { handler: 'own', manager: policies, scope: 'loans' }, middlewares: [member] } as const

router.group('/loans', (loans) => {
  loans.get('/', { ...own, responses: { 200: { type: 'array', items: Loan } } }, async (req, res) => {
    res.ok(await req.library.loansOf(req.member.id))
  })

  // The receipt waits for the commit, so that no one gets one for a loan that was rolled back.
  loans.post('/', { ...own, body: NewLoan, responses: { 201: Loan }, transaction: true }, async (req, res) => {
    const { loan, book } = await req.library.lend(req.body.book, req.member.id)
    await receiptQueue.publish({ title: book.title, at: loan.since, email: req.body.email })
    res.created(loan)
  })

  loans.delete('/:id', { ...own, transaction: true }, async (req, res) => {
    await req.library.takeBack(req.params.id, req.member.id)
    res.noContent()
  })
})
