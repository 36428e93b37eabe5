"""The configurations in deploy/, as they are: nginx and Caddy are started with them, the others read."""

import configparser
import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import time
from pathlib import Path

import httpx
import pytest
import yaml
from server_studies import Nursery, free_port, make_study
from sqlalchemy import select
from test_web import FREE, csrf
from typer.main import get_command

from sightline.cli.app import load_commands
from sightline.server.storage import schema as t
from sightline.server.storage import staff
from sightline.server.storage.database import Database
from skipping import skip

DEPLOY = Path(__file__).parents[2] / "deploy"
PASSWORD = "a long password"
NGINX = """daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; {user}
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    include {folder}/sightline.conf;
}}
"""
CADDY = """{{
    admin off
    skip_install_trust
    auto_https disable_redirects
    storage file_system {folder}/caddy
}}
"""


def put(text, *pairs):
    """A configuration with this machine's ports and files in place of the example's."""
    for there, here in pairs:
        assert there in text, there
        text = text.replace(there, here)
    return text


def nginx(folder, port, upstream, below):
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    line = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout"
    subprocess.run([*line.split(), key, "-out", certificate], check=True, capture_output=True)
    site = put(
        (DEPLOY / "nginx.conf").read_text(),
        ("listen 80;", f"listen 127.0.0.1:{free_port()};"),
        ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"),
        ("server_name lab.example.org", "server_name localhost"),
        ("/etc/letsencrypt/live/lab.example.org/fullchain.pem", str(certificate)),
        ("/etc/letsencrypt/live/lab.example.org/privkey.pem", str(key)),
        ("http://127.0.0.1:8000", f"http://127.0.0.1:{upstream}"),
        *([("    location / {", f"    location {below} {{")] if below else []),
    )
    (folder / "sightline.conf").write_text(site)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, user=user))
    return ["nginx", "-p", folder, "-c", folder / "nginx.conf"], {}


def caddy(folder, port, upstream, below):
    site = put(
        (DEPLOY / "Caddyfile").read_text(),
        *([("\treverse_proxy {", f"\treverse_proxy {below}* {{")] if below else []),
    )
    (folder / "Caddyfile").write_text(CADDY.format(folder=folder) + site)
    told = {"SIGHTLINE_HOST": f"https://localhost:{port}", "SIGHTLINE_SERVER": f"127.0.0.1:{upstream}"}
    return ["caddy", "run", "--adapter", "caddyfile", "--config", folder / "Caddyfile"], told


@pytest.fixture(scope="module", params=["nginx", "nginx/ratings", "caddy", "caddy/ratings"])
def site(request, tmp_path_factory):
    """A server behind a proxy: its address, and its database."""
    name, slash, rest = request.param.partition("/")
    make, below, memory = {"nginx": nginx, "caddy": caddy}[name], slash + rest, tmp_path_factory.mktemp(name)
    if shutil.which(make.__name__) is None:
        skip(f"{make.__name__} is not installed: make system")
    database = Database(str(memory / "ratings.db"))
    database.migrate()
    make_study(database, FREE, main=5)
    with database.write() as connection:
        staff.set_password(connection, "mod", PASSWORD)
    port, upstream = free_port(), free_port()
    nursery = Nursery(database.url, upstream, f"https://localhost:{port}{below}")
    server = nursery.start()
    line, told = make(memory, port, upstream, below)
    with (memory / "proxy.log").open("w") as log:
        proxy = subprocess.Popen(
            [str(part) for part in line],
            stdout=log,
            stderr=log,
            env={**os.environ, "HOME": str(memory), **told},
        )
    for _ in range(600):
        with socket.socket() as knock:
            if knock.connect_ex(("127.0.0.1", port)) == 0:
                break
        assert proxy.poll() is None, (memory / "proxy.log").read_text()
        time.sleep(0.05)
    yield f"https://localhost:{port}{below}", database
    proxy.terminate()
    proxy.wait(20)
    os.kill(server, signal.SIGTERM)
    nursery.close()
    database.close()


@pytest.mark.browser
def test_people_rate_and_staff_work_behind_nginx_and_caddy(site, browser):
    base, database = site
    context = browser.new_context(ignore_https_errors=True, viewport={"width": 1366, "height": 640})
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda fault: wrong.append(str(fault)))
    page.on("response", lambda found: wrong.append(found.url) if found.status >= 400 else None)
    page.goto(f"{base}/")
    page.click("a[href$='/studies/captions/join']")
    page.fill("#name", "Ada")
    page.keyboard.press("Enter")
    page.wait_for_selector(".level")
    page.wait_for_function("[...document.querySelectorAll('main img')].some((one) => one.naturalWidth > 0)")
    page.keyboard.press("4")
    page.wait_for_selector("#next:focus")
    page.keyboard.press("Enter")
    page.wait_for_selector("#feedback", state="hidden")
    page.goto(f"{base}/studies/captions/me")
    assert "caption" in page.inner_text("main")
    page.goto(f"{base}/staff")  # sent on to the log-in below the same path
    assert page.url == f"{base}/staff/login"
    page.fill("#name", "mod")
    page.fill("#password", PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{base}/staff")
    page.goto(f"{base}/staff/studies/captions")
    page.click("text=Make a link")
    page.wait_for_selector(f"text={base}/join/")
    (cookie,) = context.cookies()
    assert cookie["secure"]
    assert cookie["httpOnly"]
    assert cookie["path"] == (base.partition("/ratings")[1] or "/")
    context.close()
    assert wrong == []
    with database.read() as connection:
        assert connection.execute(select(t.Answer.value)).scalars().all() == [4]


def test_what_clients_claim_and_how_much_they_send(site):
    base, database = site
    trust = ssl.create_default_context()
    trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
    below = "/ratings" if base.endswith("/ratings") else ""
    with httpx.Client(verify=trust, base_url=base, timeout=60) as visitor:
        page = visitor.get("/staff/login")
        assert page.headers["strict-transport-security"] == "max-age=31536000"
        guess = {"csrf": csrf(page), "name": "mod", "password": "a guess"}
        claims = {
            "x-forwarded-for": "9.9.9.9",
            "x-forwarded-proto": "http",
            "origin": base.removesuffix(below),
        }
        assert visitor.post("/staff/login", data=guess, headers=claims).status_code == 403
        elsewhere = {"origin": "https://evil.example.org"}
        assert "another site" in visitor.post("/staff/login", data=guess, headers=elsewhere).text
        with database.read() as connection:
            seen = select(t.Audit.detail).where(t.Audit.action == "login failed")
            assert connection.execute(seen).scalars().all() == ["127.0.0.1"]
        much = {"content": b"x" * 2**20, "headers": {"content-type": "application/x-www-form-urlencoded"}}
        assert visitor.post("/staff/studies/new/upload", **much).status_code == 413
        done = visitor.post("/staff/login", data={**guess, "password": PASSWORD})
        assert done.headers["location"] == f"{below}/staff"
        known = visitor.post("/staff/studies/new/upload", **much)
        assert known.status_code != 413  # staff may send files
        much["content"] = b"x" * (25 * 2**20 + 1)
        assert visitor.post("/staff/studies/new/upload", **much).status_code == 413


def options_of(words):
    """The options of a command line of ours, by the command that would run it; raises where it takes none of them."""
    command = get_command(load_commands())
    context = command.make_context("sightline", list(words), resilient_parsing=True)
    while rest := [*getattr(context, "_protected_args", ()), *context.args]:
        name, command, rest = context.command.resolve_command(context, rest)
        assert command is not None, rest
        context = command.make_context(name, list(rest), parent=context)
        yield context.params


def test_the_units_and_containers_say_what_the_command_takes():
    serve = read_unit("sightline.service")["ExecStart"][0]
    (given,) = options_of(shlex.split(serve)[1:])
    folders = {f"/var/lib/{name}" for name in read_unit("sightline.service")["StateDirectory"][0].split()}
    assert {str(Path(given["db"]).parent), str(given["private"])} == folders
    assert given["public_url"].startswith("https://")
    line = read_unit("sightline-backup.service")["ExecStart"][0]
    words = shlex.split(shlex.split(line)[2].replace("$(date +%%F)", "today"))
    group, own = options_of(words[1:])
    assert (own["overwrite"], group["db"]) == (True, "sightline.db")
    assert own["db"] == given["db"]
    docker = (DEPLOY / "Dockerfile").read_text()
    (contained,) = options_of(yaml.safe_load(re.search(r"^CMD (\[.*\])", docker, re.MULTILINE)[1]))
    assert contained["host"] == "0.0.0.0"
    extras = re.search(r"/source\[([\w,]+)\]", docker)[1].split(",")
    project = (DEPLOY.parent / "pyproject.toml").read_text()
    assert all(f"\n{name} = [" in project for name in extras)
    for source in re.findall(r"^COPY (.*) \S+$", docker, re.MULTILINE):
        assert all((DEPLOY.parent / name).exists() for name in source.split())
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    (composed,) = options_of(services["sightline"]["command"])
    assert composed["db"].startswith("postgresql://sightline@database/")
    assert set(services) >= {"database", *services["sightline"]["depends_on"]}
    caddyfile = (DEPLOY / "Caddyfile").read_text()
    assert all(f"{{${name}:" in caddyfile for name in services["proxy"]["environment"])


def read_unit(name):
    """A unit's service, every line of each key."""
    lines = (DEPLOY / name).read_text().split("[Service]\n")[1].split("\n[")[0].splitlines()
    found = {}
    for key, _, value in (line.partition("=") for line in lines if line):
        found.setdefault(key, []).append(value)
    assert configparser.ConfigParser(strict=False, interpolation=None).read(DEPLOY / name)
    return found
