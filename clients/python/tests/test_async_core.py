"""The same protocol under asyncio: its own paths only, the decisions are shared."""

import asyncio

from help import fresh, raises  # noqa: F401
from holdpoint import AsyncClient, Client, Denied, gate
from server import Server


async def test_many_wait_at_once_and_each_gets_its_own_answer(server: Server) -> None:
    titles = [fresh("task") for _ in range(5)]
    ran: list[int] = []
    async with AsyncClient(server.url, server.token) as client:

        @client.gate(title=lambda args: titles[args["number"]])
        async def work(number: int) -> int:
            await asyncio.sleep(0)
            ran.append(number)
            return number

        tasks = [asyncio.create_task(work(number)) for number in range(5)]
        for number, title in enumerate(titles):
            hold = await asyncio.to_thread(server.person.opened, title)
            if number % 2:
                await asyncio.to_thread(server.person.deny, hold, f"no {number}")
            else:
                await asyncio.to_thread(server.person.approve, hold)
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert sorted(ran) == [0, 2, 4]
    assert [one for one in ended if isinstance(one, int)] == [0, 2, 4]
    assert [one.reason for one in ended if isinstance(one, Denied)] == ["no 1", "no 3"]


async def test_a_cancelled_task_withdraws_its_hold_and_calls_nothing(server: Server) -> None:
    title, ran = fresh("task"), []
    async with AsyncClient(server.url, server.token) as client:

        @client.gate(title=title)
        async def work() -> None:
            ran.append(1)

        task = asyncio.create_task(work())
        hold = await asyncio.to_thread(server.person.opened, title)
        task.cancel()
        ended = await asyncio.gather(task, return_exceptions=True)
        assert isinstance(ended[0], asyncio.CancelledError)
        assert (await client.show(hold["id"]))["state"] == "cancelled"
    assert ran == []


async def test_each_way_of_the_client_works(server: Server) -> None:
    async with AsyncClient(server.url, server.token) as client:
        hold = await client.open(fresh("Deploy"), tool="deploy", arguments={"version": "1.4"}, key=fresh("deploy"))
        server.person.approve(server.person.show(hold["id"]))
        decided = await client.wait(hold["id"], timeout_s=20)
        started = await client.start(decided)
        assert started["outcome"] == {"state": "executing"} or started["outcome"]["state"] == "executing"
        reported = await client.report(hold["id"], True, {"rows": 3})
        assert reported["outcome"] == {"state": "succeeded", "result": {"rows": 3}}
        other = await client.open(fresh("Deploy"), tool="deploy", arguments={})
        await client.cancel(other["id"], "enough")
        ended = await client.wait(other["id"])
        assert ended["state"] == "cancelled"


def test_a_client_of_the_other_kind_is_refused_when_the_function_is_made(server: Server) -> None:
    async def later() -> None: ...

    raises(TypeError, lambda: gate(client=Client(server.url, server.token))(later))
    raises(TypeError, lambda: gate(client=AsyncClient(server.url, server.token))(lambda: None))
